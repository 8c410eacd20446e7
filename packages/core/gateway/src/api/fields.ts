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

export const limitOf = (query: Fields): number => (query["limit"] as number | undefined) ?? DEFAULT_LIMIT;
