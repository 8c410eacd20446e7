/** What the endpoints take: names of people's choosing, and the browser's own WebAuthn JSON. */
import { DEVICE_NAME_PATTERN } from "@svc/contract";
import * as v from "valibot";

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
