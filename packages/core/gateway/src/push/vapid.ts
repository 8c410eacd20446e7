/** Who sends: a push service takes messages of a subscription only from the key it was made for (RFC 8292). */
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import * as v from "valibot";

export interface VapidKey {
  /** Uncompressed point, base64url: what a page subscribes with. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** The text goes into the encrypted store. */
export function makeVapidKey(): { readonly key: VapidKey; readonly text: string } {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const text = JSON.stringify(privateKey.export({ format: "jwk" }));
  return { key: readVapidKey(text), text };
}

const JWK = v.object({
  kty: v.literal("EC"),
  crv: v.literal("P-256"),
  x: v.string(),
  y: v.string(),
  d: v.string(),
});

/** Throws for anything that `makeVapidKey` did not write. */
export function readVapidKey(text: string): VapidKey {
  const jwk = v.parse(JWK, JSON.parse(text));
  const point = Buffer.concat([Buffer.of(4), Buffer.from(jwk.x, "base64url"), Buffer.from(jwk.y, "base64url")]);
  return {
    publicKey: point.toString("base64url"),
    privateKey: createPrivateKey({ key: jwk, format: "jwk" }),
  };
}

/** At most a day is allowed; a clock that is some hours off must not matter. */
const TOKEN_SECS = 12 * 3600;

/** The header `Authorization` for one push service. `contact`: a URL by which its operator reaches the sender. */
export function vapidHeader(
  { publicKey, privateKey }: VapidKey,
  audience: string,
  contact: string,
  nowMs: number,
): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { aud: audience, exp: Math.floor(nowMs / 1000) + TOKEN_SECS, sub: contact };
  const signed = `${part({ typ: "JWT", alg: "ES256" })}.${part(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `vapid t=${signed}.${signature.toString("base64url")}, k=${publicKey}`;
}
