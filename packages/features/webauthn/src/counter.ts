/** The signature counter, by which a copy of an authenticator shows (https://www.w3.org/TR/webauthn-3/#sctn-sign-counter). */
import type { Passkey } from "./passkey.ts";

export interface Use {
  /** What the authenticator signed; 0: it does not count. */
  readonly counter: number;
  readonly isSynced: boolean;
  /** When its challenge was issued, by the wall clock. */
  readonly begunAtMs: number;
}

/** `overtaken`: a later use came in first, as happens on slow lines; it is refused all the same. */
export type Verdict = "in-order" | "overtaken" | "copied";

export function verdictOn({ counter: known, lastUsedAtMs }: Passkey, { counter, begunAtMs }: Use): Verdict {
  const counts = counter !== 0 || known !== 0;
  if (!counts || counter > known) return "in-order";
  return lastUsedAtMs !== null && begunAtMs <= lastUsedAtMs ? "overtaken" : "copied";
}
