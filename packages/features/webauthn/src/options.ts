/**
 * What the browser is asked for. Written out here: the library that would make it is slow to load, and a sign-in may be begun
 * by anybody.
 */
import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialDescriptorJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import * as v from "valibot";
import { CHALLENGE_LIFE_MS } from "./challenges.ts";
import type { Passkey } from "./passkey.ts";
import type { RelyingParty } from "./relying-party.ts";

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
