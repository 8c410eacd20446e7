/** Pieces of the messages of the control socket. A sentence in a schema is the USAGE error of the command that sends it. */
import { DEVICE_NAME_PATTERN } from "@svc/contract";
import * as v from "valibot";

/** What a command posts, and what it is answered. */
export interface Message {
  readonly input: v.GenericSchema<object, object>;
  readonly output: v.GenericSchema;
}

/** For a command that says nothing but its name. */
export const nothing = v.object({});

const MOST_LISTED = 1_000;
const DEFAULT_LISTED = 50;
const LIMIT = `--limit takes a whole number from 1 to ${MOST_LISTED}.`;

/** As typed behind `--limit`. */
export const limit = v.optional(
  v.pipe(
    v.union([v.string(), v.number()], LIMIT),
    v.transform(Number),
    v.check((count) => Number.isInteger(count) && count >= 1 && count <= MOST_LISTED, LIMIT),
  ),
  DEFAULT_LISTED,
);

/** Of a command that checks its option itself. */
export function count(most: number) {
  const sentence = `The limit must be 1 to ${most}.`;
  return v.optional(
    v.pipe(v.number(sentence), v.integer(sentence), v.minValue(1, sentence), v.maxValue(most, sentence)),
    most,
  );
}

/** A name that a person gives. */
export function personalName(sentence: string) {
  return v.pipe(v.string(sentence), v.regex(DEVICE_NAME_PATTERN, sentence), v.trim());
}

/** One of these, as typed on the command line. */
export function typed<const Options extends readonly string[]>(options: Options, sentence: string) {
  return v.pipe(v.string(sentence), v.picklist(options, sentence));
}
