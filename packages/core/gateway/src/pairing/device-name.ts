/** `DEVICE_NAME_PATTERN` as a schema, for bodies and the API document. */
import { DEVICE_NAME_PATTERN } from "@svc/contract";
import * as v from "valibot";

export const DEVICE_NAME = v.pipe(
  v.string(),
  v.regex(DEVICE_NAME_PATTERN),
  v.description("1 to 64 printable characters, not all of them blank."),
  v.trim(),
);
