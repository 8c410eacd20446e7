/** Keys of credentials: COSE (https://www.rfc-editor.org/rfc/rfc9053, RFC 8230 for RSA) and signatures as WebAuthn has them. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { cbor, type CborValue } from "./cbor.ts";

export type SoftAlgorithm = "ES256" | "EdDSA" | "RS256";

export interface CredentialKey {
  /** COSE algorithm identifier. */
  readonly alg: number;
  readonly cose: Buffer;
  sign(data: Uint8Array): Buffer;
}

export const COSE_ALGORITHM: Readonly<Record<SoftAlgorithm, number>> = { ES256: -7, EdDSA: -8, RS256: -257 };

export function credentialKey(algorithm: SoftAlgorithm): CredentialKey {
  const { publicKey, privateKey } = pairOf(algorithm);
  const jwk = publicKey.export({ format: "jwk" });
  const part = (name: "x" | "y" | "n" | "e"): Buffer => Buffer.from(jwk[name] ?? "", "base64url");
  const parameters: Readonly<Record<SoftAlgorithm, readonly (readonly [number, CborValue])[]>> = {
    ES256: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, part("x")],
      [-3, part("y")],
    ],
    EdDSA: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, part("x")],
    ],
    RS256: [
      [1, 3],
      [3, -257],
      [-1, part("n")],
      [-2, part("e")],
    ],
  };
  return {
    alg: COSE_ALGORITHM[algorithm],
    cose: cbor(new Map(parameters[algorithm])),
    sign: (data) => sign(algorithm === "EdDSA" ? null : "sha256", data, privateKey),
  };
}

function pairOf(algorithm: SoftAlgorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  if (algorithm === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (algorithm === "EdDSA") return generateKeyPairSync("ed25519");
  return generateKeyPairSync("rsa", { modulusLength: 2048 });
}
