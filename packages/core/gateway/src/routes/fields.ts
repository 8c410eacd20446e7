/** Query parameters, checked by the schemas that /openapi.json shows. */
import type { IncomingMessage } from "node:http";
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import type { Strings } from "./spec.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Of the target, whose first character is a slash. */
export function queryOf(incoming: IncomingMessage): URLSearchParams {
  const target = incoming.url ?? "";
  const mark = target.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1));
}

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
