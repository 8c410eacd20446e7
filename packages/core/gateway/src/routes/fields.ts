/** Query parameters, checked by the schemas that /openapi.json shows. */
import type { IncomingMessage } from "node:http";
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import { targetOf } from "../http/target.ts";
import type { Strings } from "./spec.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const queryOf = (incoming: IncomingMessage): URLSearchParams =>
  new URLSearchParams(targetOf(incoming)?.query ?? "");

/** What the schemas make of the parameters they name; others pass unread. Throws BAD_REQUEST. */
export function fieldsOf(schemas: Strings | undefined, query: URLSearchParams): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemas ?? {})) {
    const sent = query.getAll(name);
    // Of two, somebody else on the way may have read the other one.
    const parsed = v.safeParse(schema, sent.length > 1 ? sent : sent[0]);
    if (!parsed.success) throw new SvcError("BAD_REQUEST", `${name} must be ${descriptionOf(schema)}.`);
    fields[name] = parsed.output;
  }
  return fields;
}

/** Of what is optional, too. */
function descriptionOf(schema: v.GenericSchema): string {
  const text = v.getDescription(schema);
  if (text !== undefined) return text;
  return "wrapped" in schema ? descriptionOf(schema.wrapped as v.GenericSchema) : "as /openapi.json says";
}
