/** What a device may be called: the rule of POST /pair. Control characters would reach terminals that list the devices. */
import { SvcError } from "@svc/contract";

/** Throws USAGE. */
export function deviceName(name: unknown): string {
  if (typeof name === "string" && /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u.test(name) && name.trim() !== "") return name.trim();
  throw new SvcError("USAGE", "A device's name is 1 to 64 printable characters.");
}
