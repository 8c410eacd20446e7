/** The signature counter, by which a copy of an authenticator shows (https://www.w3.org/TR/webauthn-3/#sctn-sign-counter). */
import type { Passkey } from "./passkey.ts";

/** The passkey after a use of it; suspect, when the counter did not go up although one of the two counts. */
export function used(
  passkey: Passkey,
  { counter, isSynced }: { readonly counter: number; readonly isSynced: boolean },
  nowMs: number,
): Passkey {
  const counts = counter !== 0 || passkey.counter !== 0;
  if (counts && counter <= passkey.counter) return { ...passkey, suspectSinceMs: nowMs };
  return { ...passkey, counter, isSynced, lastUsedAtMs: nowMs };
}
