/**
 * The JSON of a WebAuthn ceremony: what the gateway asks the browser for, and what it accepts. Written out here, because the library
 * loads slowly, and anyone may start a sign-in.
 */
import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialDescriptorJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import * as v from "valibot";
import { CHALLENGE_LIFE_MS } from "./challenges.ts";
import type { Passkey } from "./passkeys.ts";
import type { RelyingParty } from "./relying-party.ts";
import { DEVICE_NAME_PATTERN } from "@svc/contract";

/** ES256, EdDSA, RS256 (https://www.iana.org/assignments/cose/cose.xhtml#algorithms), in the order we like them. */
export const ALGORITHMS = [-7, -8, -257] as const;

export interface NewPasskey {
  readonly challenge: string;
  readonly handle: string;
  readonly userName: string;
  /** What the user has already: an authenticator makes no second one beside them. */
  readonly existing: readonly Passkey[];
}

export const creationOptions = (
  { id, name }: RelyingParty,
  { challenge, handle, userName, existing }: NewPasskey,
): PublicKeyCredentialCreationOptionsJSON => ({
  challenge,
  rp: { id, name },
  user: { id: handle, name: userName, displayName: userName },
  pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
  timeout: CHALLENGE_LIFE_MS,
  attestation: "none",
  excludeCredentials: existing.map(descriptor),
  // The authenticator keeps the user's handle, so that nobody has to say who they are before they sign in.
  authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
  extensions: { credProps: true },
});

/** `allowed`: undefined leaves the choice to the person. */
export const requestOptions = (
  { id }: RelyingParty,
  challenge: string,
  allowed: readonly Passkey[] | undefined,
): PublicKeyCredentialRequestOptionsJSON => ({
  challenge,
  rpId: id,
  timeout: CHALLENGE_LIFE_MS,
  userVerification: "required",
  ...(allowed && { allowCredentials: allowed.map(descriptor) }),
});

const descriptor = ({ id, transports }: Passkey): PublicKeyCredentialDescriptorJSON => ({
  type: "public-key",
  id,
  transports: transports as AuthenticatorTransport[],
});

const DESCRIPTORS = v.array(
  v.object({ type: v.literal("public-key"), id: v.string(), transports: v.array(v.string()) }),
);

export const CREATION_OPTIONS = v.pipe(
  v.object({
    challenge: v.string(),
    rp: v.object({ id: v.string(), name: v.string() }),
    user: v.object({ id: v.string(), name: v.string(), displayName: v.string() }),
    pubKeyCredParams: v.array(v.object({ type: v.literal("public-key"), alg: v.number() })),
    timeout: v.number(),
    attestation: v.literal("none"),
    excludeCredentials: DESCRIPTORS,
    authenticatorSelection: v.object({
      residentKey: v.literal("required"),
      requireResidentKey: v.literal(true),
      userVerification: v.literal("required"),
    }),
    extensions: v.object({ credProps: v.literal(true) }),
  }),
  v.description("PublicKeyCredentialCreationOptionsJSON: `startRegistration({ optionsJSON })` takes it as it is."),
);

export const REQUEST_OPTIONS = v.pipe(
  v.object({
    challenge: v.string(),
    rpId: v.string(),
    timeout: v.number(),
    userVerification: v.literal("required"),
    allowCredentials: v.optional(DESCRIPTORS),
  }),
  v.description("PublicKeyCredentialRequestOptionsJSON: `startAuthentication({ optionsJSON })` takes it as it is."),
);

// Input of the endpoints: names that people choose, and the browser's own WebAuthn JSON.

/** Printable, not blank, no lone surrogates. Control characters would reach the terminals that list passkeys. */
const PRINTABLE = /^(?=.*[^\p{Z}])[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u;

export const USER_ID = v.pipe(
  v.string(),
  v.regex(PRINTABLE),
  v.description("Who the passkey is for: 1 to 128 printable characters, compared exactly."),
);

export const USER_NAME = v.pipe(
  v.string(),
  v.regex(PRINTABLE),
  v.description("What the browser shows for the user: 1 to 128 printable characters."),
);

export const PASSKEY_NAME = v.pipe(
  v.string(),
  v.regex(DEVICE_NAME_PATTERN),
  v.trim(),
  v.description("1 to 64 printable characters."),
);

const base64url = (maxChars: number) => v.pipe(v.string(), v.maxLength(maxChars), v.regex(/^[A-Za-z0-9_-]+$/));

/** 1023 bytes, the longest id there is (https://www.w3.org/TR/webauthn-3/#credential-id). */
const CREDENTIAL_ID = base64url(1364);
const CLIENT_DATA = base64url(8192);

const credential = {
  id: CREDENTIAL_ID,
  rawId: CREDENTIAL_ID,
  type: v.literal("public-key"),
} as const;

/** https://www.w3.org/TR/webauthn-3/#dictdef-registrationresponsejson; what is not read here is dropped. */
export const REGISTRATION = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: CLIENT_DATA,
    attestationObject: base64url(16_384),
    transports: v.optional(v.pipe(v.array(v.pipe(v.string(), v.regex(/^[a-z-]{1,32}$/))), v.maxLength(16))),
  }),
  name: v.optional(PASSKEY_NAME),
});

/** https://www.w3.org/TR/webauthn-3/#dictdef-authenticationresponsejson; what is not read here is dropped. */
export const ASSERTION = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: CLIENT_DATA,
    authenticatorData: base64url(4096),
    signature: base64url(4096),
    userHandle: v.nullish(base64url(86)),
  }),
});

export type Registration = v.InferOutput<typeof REGISTRATION>;
export type Assertion = v.InferOutput<typeof ASSERTION>;
