/** Passkeys: the daemon starts each operation, the browser performs it, and the daemon finishes it. */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/browser";
import type { PageDevice, SignIn } from "@svc/api";
import { type PlainKey, t } from "../texts/texts.ts";
import { type Api, ApiError, errorOf, path, send } from "./api.ts";

/** Id of the feature that adds passkeys. */
export const PASSKEYS = "webauthn";

export interface Passkey {
  readonly id: string;
  readonly user_id: string;
  readonly user_name: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly suspect: boolean;
}

/**
 * The passkey is the device's: its id says who the passkey is for, and its name is what the browser shows among others of
 * this service. Resolves with whether there is one more. Throws ApiError.
 */
export async function addPasskey(api: Api, { id, name: deviceName }: PageDevice, name: string): Promise<boolean> {
  const options = await api.call<PublicKeyCredentialCreationOptionsJSON>("/api/webauthn/register/start", {
    method: "POST",
    body: { user_id: id, user_name: deviceName },
  });
  const made = await makePasskey(options);
  if (made === undefined) return false;
  const body = name.trim() === "" ? made : { ...made, name };
  await api.call("/api/webauthn/register/finish", { method: "POST", body });
  return true;
}

/** Undefined: the person cancelled. Throws ApiError. */
export async function signInByPasskey(): Promise<SignIn | undefined> {
  const answer = await usePasskey(await post<PublicKeyCredentialRequestOptionsJSON>("/api/webauthn/auth/start", {}));
  if (answer === undefined) return undefined;
  const { csrf, device } = await post<SignIn>("/api/webauthn/auth/finish", answer);
  return { csrf, device };
}

/** With the device's token where the sign-in is not enough. A wrong one says nothing about the sign-in. Throws ApiError. */
export async function removePasskey(api: Api, id: string, token: string | undefined): Promise<void> {
  const address = path`/api/webauthn/credentials/${id}`;
  if (token === undefined) return api.call(address, { method: "DELETE" });
  const response = await send(address, { method: "DELETE" }, { Authorization: `Bearer ${token.trim()}` });
  if (!response.ok) throw await errorOf(response);
}

/** Without a sign-in. */
async function post<Answer>(path: string, body: unknown): Promise<Answer> {
  const response = await send(path, { method: "POST", body }, {});
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as Answer;
}

/**
 * The browser's side of passkeys, by `@simplewebauthn/browser`: Safari before 18.4 has no `parseCreationOptionsFromJSON` and no native
 * `toJSON`. The used part of the library is 3 kB, fetched only where passkeys are offered. There is no autofill of passkeys (conditional
 * mediation): it would take a challenge with every look at the sign-in page, and another one whenever that has grown old, to spare one
 * press.
 */
const library = () => import("./webauthn-library.ts");

/** Loads the library beforehand: browsers accept a passkey request only shortly after a press. */
export const prepareAuthenticator = (): void => void library().catch(() => {});

/** Undefined: the person cancelled. Throws ApiError. */
async function makePasskey(
  optionsJSON: PublicKeyCredentialCreationOptionsJSON,
): Promise<RegistrationResponseJSON | undefined> {
  const { startRegistration } = await library();
  return startRegistration({ optionsJSON }).catch(unlessCancelled);
}

/** Undefined: the person cancelled. Throws ApiError. */
async function usePasskey(
  optionsJSON: PublicKeyCredentialRequestOptionsJSON,
): Promise<AuthenticationResponseJSON | undefined> {
  const { startAuthentication } = await library();
  return startAuthentication({ optionsJSON }).catch(unlessCancelled);
}

/** By the names of https://www.w3.org/TR/webauthn-3/#sctn-create-request-exceptions. */
const SENTENCES: Readonly<Record<string, PlainKey>> = {
  InvalidStateError: "passkeys.there-is-a-passkey-of",
  SecurityError: "passkeys.the-browser-uses-the-services",
  ConstraintError: "passkeys.it-cant-keep-passkeys-or",
  NotSupportedError: "passkeys.it-makes-no-passkeys-of",
};

/** The browser reports a cancellation, a timeout and an unknown key with one error, so that no page can tell them apart. */
function unlessCancelled(error: unknown): undefined {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError" || name === "AbortError") return undefined;
  throw new ApiError("BROWSER_REFUSED", t(SENTENCES[name] ?? "passkeys.the-browser-could-not-do"));
}
