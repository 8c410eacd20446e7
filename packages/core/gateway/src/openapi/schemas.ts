/** Valibot to JSON Schema 2020-12, which is OpenAPI 3.1's. */
import type { Json } from "@svc/contract";
import { integer } from "@svc/contract";
import { type ConversionConfig, toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";

export const ERROR_SCHEMA = v.object({
  error: v.pipe(v.string(), v.description("A sentence for a person.")),
  code: v.pipe(v.string(), v.description("Stable.")),
  retry_after: v.optional(v.pipe(integer(1), v.description("Seconds after which trying again can succeed."))),
  by: v.optional(v.pipe(v.string(), v.description("Of APPROVAL_RESOLVED: who answered."))),
  at: v.optional(v.pipe(v.string(), v.isoTimestamp(), v.description("Of APPROVAL_RESOLVED: when; UTC."))),
});

type Schema = { readonly [key: string]: Json };

export const CONVERSION: ConversionConfig = {
  target: "draft-2020-12",
  // What a feature checks by code has no counterpart: its routes are shown all the same.
  errorMode: "ignore",
  // What is taken off at the ends is no matter of what fits.
  ignoreActions: ["trim"],
  // JSON Schema reads patterns as if they had the flag u, so that one is no loss.
  overrideAction: ({ valibotAction, jsonSchema }) => {
    if (valibotAction.type !== "regex") return undefined;
    const { source, flags } = (valibotAction as unknown as { readonly requirement: RegExp }).requirement;
    return flags === "u" ? { ...jsonSchema, pattern: source } : undefined;
  },
};

/** Of what comes in, before it is made into something else. */
export const inputSchema = (schema: v.GenericSchema): Schema => converted(schema, "input");

/** Of a text that stands for something else: a number in a query is shown as a number. */
export const outputSchema = (schema: v.GenericSchema): Schema => converted(schema, "output");

export const isOptional = ({ type }: v.GenericSchema): boolean => type === "optional";

function converted(schema: v.GenericSchema, typeMode: "input" | "output"): Schema {
  const { $schema: _dialect, ...rest } = toJsonSchema(schema, { ...CONVERSION, typeMode });
  return rest as Schema;
}
