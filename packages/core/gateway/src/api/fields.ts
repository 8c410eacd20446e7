/** Pieces that many routes are made of. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import type { Fields } from "../routes/fields.ts";

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

/** Of a page: leads to the one after it. */
export const cursor = (what: string) =>
  v.pipe(v.nullable(integer(1)), v.description(`Leads to the ${what} before these; null: there are none.`));

/** Completes "… must be …". */
export const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.optional(v.pipe(v.picklist(options), v.description(options.join(", ").replace(/, (?=[^,]*$)/, " or "))));

export const limitOf = (query: Fields): number => (query["limit"] as number | undefined) ?? DEFAULT_LIMIT;
