/** Whether passkeys are on, and whether one is enough to come in. */
import { type Finding, note, ok } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function passkeyFindings({ config }: Settings): Finding[] {
  const id = "passkeys";
  const section = config.section("security.webauthn") as { readonly sign_in?: boolean } | undefined;
  if (section === undefined) return [ok(id, "Passkeys are off.")];
  if (section.sign_in !== true)
    return [ok(id, "A passkey opens nothing without a token (security.webauthn.sign_in is off).")];
  const message = "A passkey is enough to sign in, as the device that registered it: strangers may try theirs.";
  return [note(id, message, "set security.webauthn.sign_in = false, where the token is to be asked for, too")];
}
