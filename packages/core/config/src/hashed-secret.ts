/** A secret that is only ever compared: its SHA-256 takes its place as soon as the config is read. */
import { trimOf } from "@svc/contract";

export interface HashedSecret {
  /** Hex, of the UTF-8 text without blanks around it. */
  readonly sha256: string;
}

/** Undefined for a blank one, which counts as unset. */
export function hashedSecret(text: string): HashedSecret | undefined {
  // As a header's value is read: `trim` would take more characters off than HTTP does.
  const secret = trimOf(text, " \t");
  return secret === "" ? undefined : { sha256: nodeCrypto().createHash("sha256").update(secret).digest("hex") };
}

/** node:crypto where it is needed: loading it takes 8 ms, and a command that reads one key of the config seals nothing. */
export const nodeCrypto = (): typeof import("node:crypto") => process.getBuiltinModule("node:crypto");
