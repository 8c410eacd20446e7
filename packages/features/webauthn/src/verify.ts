/**
 * The library's word on an authenticator's answer. It takes a quarter of a second to load: only ever imported on demand.
 * What it says of a failure quotes what came, and is never passed on.
 */
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject, isoBase64URL, parseAuthenticatorData } from "@simplewebauthn/server/helpers";
import { SvcError } from "@svc/contract";
import { ALGORITHMS, type Assertion, type Registration } from "./ceremony.ts";
import type { Passkey } from "./passkeys.ts";

export interface Expected {
  readonly challenge: string;
  readonly origin: string;
  readonly rpId: string;
}

/** Throws PASSKEY_REFUSED. */
export async function verifiedRegistration(
  { id, rawId, type, response }: Registration,
  expected: Expected,
): Promise<Pick<Passkey, "id" | "publicKey" | "counter" | "canSync" | "isSynced">> {
  const { clientDataJSON, attestationObject } = response;
  const authData = authDataOf(attestationObject);
  const result = await judged(authData, () =>
    verifyRegistrationResponse({
      response: { id, rawId, type, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} },
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.origin,
      expectedRPID: expected.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    }),
  );
  if (!result.verified) throw refused();
  const { credential, credentialDeviceType, credentialBackedUp } = result.registrationInfo;
  // The library takes the id from what the authenticator wrote, and does not look at the browser's.
  if (credential.id !== id) throw refused();
  return {
    id,
    publicKey: isoBase64URL.fromBuffer(credential.publicKey),
    counter: credential.counter,
    canSync: credentialDeviceType === "multiDevice",
    isSynced: credentialBackedUp,
  };
}

/** Its signature is good; whether the counter went up is not looked at. Throws PASSKEY_REFUSED. */
export async function verifiedAssertion(
  { id, rawId, type, response }: Assertion,
  passkey: Pick<Passkey, "publicKey">,
  expected: Expected,
): Promise<{ readonly counter: number; readonly isSynced: boolean }> {
  const { clientDataJSON, authenticatorData, signature } = response;
  const authData = () => isoBase64URL.toBuffer(authenticatorData);
  const { verified, authenticationInfo } = await judged(authData, () =>
    verifyAuthenticationResponse({
      response: {
        id,
        rawId,
        type,
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.origin,
      expectedRPID: expected.rpId,
      requireUserVerification: true,
      // The library checks the counter before the signature: anyone who knows an id could make a passkey look like a copy.
      credential: { id, publicKey: isoBase64URL.toBuffer(passkey.publicKey), counter: 0 },
    }),
  );
  if (!verified) throw refused();
  return { counter: authenticationInfo.newCounter, isSynced: authenticationInfo.credentialBackedUp };
}

/**
 * Only what comes without a certificate: a chain of them is a stranger's input to big parsers, and could have lists of
 * revocations fetched. We ask for none, and browsers take them out then. Throws PASSKEY_REFUSED.
 */
function authDataOf(attestationObject: string): () => Uint8Array {
  const { format, hasCertificate, authData } = attempt(() => {
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
    return {
      format: attestation.get("fmt"),
      hasCertificate: attestation.get("attStmt").get("x5c") !== undefined,
      authData: attestation.get("authData"),
    };
  });
  if ((format === "none" || format === "packed") && !hasCertificate) return () => authData;
  throw refused("The authenticator sent an attestation that was not asked for.");
}

/** Once it is refused, and only then, a word on what a person can do about it. */
async function judged<T>(authData: () => Uint8Array, verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch {
    const { flags } = attempt(() => parseAuthenticatorData(Uint8Array.from(authData())));
    if (flags.up && !flags.uv) {
      throw refused("The authenticator did not verify the person: a PIN, a finger or a face is needed.");
    }
    throw refused();
  }
}

function attempt<T>(decode: () => T): T {
  try {
    return decode();
  } catch {
    throw refused();
  }
}

/** Without a cause: the library's words quote what came. */
const refused = (message = "What the authenticator answered does not hold."): SvcError =>
  new SvcError("PASSKEY_REFUSED", message);
