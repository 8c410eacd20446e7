/** A device's name as typed. */
import { DEVICE_NAME_PATTERN, SvcError } from "@svc/contract";

/** Throws USAGE. */
export function deviceName(name: unknown): string {
  if (typeof name === "string" && DEVICE_NAME_PATTERN.test(name)) return name.trim();
  throw new SvcError("USAGE", "A device's name is 1 to 64 printable characters.");
}
