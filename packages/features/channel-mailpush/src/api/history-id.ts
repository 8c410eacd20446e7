/** A place in a mailbox's history: a number with more digits than a float holds, so as its digits. */
import * as v from "valibot";

export const historyIdSchema = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.safeInteger())]),
  v.transform(String),
  v.regex(/^\d{1,40}$/),
);
