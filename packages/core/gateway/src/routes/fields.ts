/** Query parameters, and pieces of schemas that many routes are made of. */
import { integer, SvcError } from "@svc/contract";
import * as v from "valibot";
import type { Fields, Strings } from "./route.ts";

/** What the schemas make of the parameters they name; others pass unread. Throws BAD_REQUEST. */
export function fieldsOf(schemas: Strings | undefined, query: URLSearchParams): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemas ?? {})) {
    const sent = query.getAll(name);
    // A repeated field is refused: a proxy on the way may have read the other value.
    const parsed = v.safeParse(schema, sent.length > 1 ? sent : sent[0]);
    if (!parsed.success) throw new SvcError("BAD_REQUEST", `${name} must be ${descriptionOf(schema)}.`);
    fields[name] = parsed.output;
  }
  return fields;
}

/** Looks inside optional schemas, too. */
function descriptionOf(schema: v.GenericSchema): string {
  const text = v.getDescription(schema);
  if (text !== undefined) return text;
  return "wrapped" in schema ? descriptionOf(schema.wrapped as v.GenericSchema) : "as /openapi.json says";
}

export const name = (description: string) => v.pipe(v.string(), v.description(description));

export const time = (description = "UTC.") => v.pipe(v.string(), v.isoTimestamp(), v.description(description));

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

export const limit = (what: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,3}$/),
      v.transform(Number),
      integer(1, MAX_LIMIT),
      v.description(`1 to ${MAX_LIMIT}: how many ${what}; ${DEFAULT_LIMIT} when left out`),
    ),
  );

/** The number that a page ended with. */
export const before = () =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}$/),
      v.transform(Number),
      integer(0),
      v.description("the cursor of a page that was read before"),
    ),
  );

/** The cursor of the next page. */
export const cursor = (what: string) =>
  v.pipe(v.nullable(integer(1)), v.description(`Cursor of the ${what} before these; null: no more.`));

/** Completes "… must be …". */
export const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.optional(v.pipe(v.picklist(options), v.description(options.join(", ").replace(/, (?=[^,]*$)/, " or "))));

export const limitOf = (query: Fields): number => (query["limit"] as number | undefined) ?? DEFAULT_LIMIT;
