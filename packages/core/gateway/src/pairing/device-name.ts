/** What a device may be called. Control characters would reach terminals that list the devices. */
import * as v from "valibot";

export const DEVICE_NAME = v.pipe(
  v.string(),
  v.regex(/^(?=.*[^\p{Z}])[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u),
  v.description("1 to 64 printable characters, not all of them blank."),
  v.trim(),
);
