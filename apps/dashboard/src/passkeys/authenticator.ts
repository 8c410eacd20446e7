/**
 * The browser's side of passkeys, by `@simplewebauthn/browser`: Safari before 18.4 has no `parseCreationOptionsFromJSON` and no
 * native `toJSON`. The used part of the library is 3 kB, fetched only where passkeys are offered.
 *
 * There is no autofill of passkeys (conditional mediation): it would take a challenge with every look at the sign-in page, and
 * another one whenever that has grown old, to spare one press.
 */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/browser";
import { ApiError } from "../api/api-error.ts";
import { type PlainKey, t } from "../texts/texts.ts";

const library = () => import("./webauthn-library.ts");

/** Has the library there: browsers let a page ask for a passkey only shortly after a press. */
export const prepareAuthenticator = (): void => void library().catch(() => {});

/** undefined: the person called it off. Throws ApiError. */
export async function makePasskey(
  optionsJSON: PublicKeyCredentialCreationOptionsJSON,
): Promise<RegistrationResponseJSON | undefined> {
  const { startRegistration } = await library();
  return startRegistration({ optionsJSON }).catch(unlessCalledOff);
}

/** undefined: the person called it off. Throws ApiError. */
export async function usePasskey(
  optionsJSON: PublicKeyCredentialRequestOptionsJSON,
): Promise<AuthenticationResponseJSON | undefined> {
  const { startAuthentication } = await library();
  return startAuthentication({ optionsJSON }).catch(unlessCalledOff);
}

/** By the names of https://www.w3.org/TR/webauthn-3/#sctn-create-request-exceptions. */
const SENTENCES: Readonly<Record<string, PlainKey>> = {
  InvalidStateError: "passkeys.there-is-a-passkey-of",
  SecurityError: "passkeys.the-browser-uses-the-services",
  ConstraintError: "passkeys.it-cant-keep-passkeys-or",
  NotSupportedError: "passkeys.it-makes-no-passkeys-of",
};

/** The browser reports a cancellation, a timeout and an unknown key with one error, so that no page can tell them apart. */
function unlessCalledOff(error: unknown): undefined {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError" || name === "AbortError") return undefined;
  throw new ApiError("BROWSER_REFUSED", t(SENTENCES[name] ?? "passkeys.the-browser-could-not-do"));
}
