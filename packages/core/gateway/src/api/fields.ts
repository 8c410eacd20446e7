/** Pieces that many answers are made of. */
import * as v from "valibot";

export const name = (description: string) => v.pipe(v.string(), v.description(description));

export const time = (description = "UTC.") => v.pipe(v.string(), v.isoTimestamp(), v.description(description));
