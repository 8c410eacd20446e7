/** A push message as only the browser that subscribed can read it: RFC 8291, one record of `aes128gcm` (RFC 8188). */
import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  type ECDH,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import * as v from "valibot";

/** What a browser hands over with its subscription. */
export interface PushKeys {
  /** Its point on P-256, uncompressed: 65 bytes. */
  readonly p256dh: Uint8Array;
  /** 16 bytes that only the page and the browser know. */
  readonly auth: Uint8Array;
}

/** Of the vectors of the RFC; everything else takes random ones. */
export interface FixedSecrets {
  readonly privateKey: Uint8Array;
  readonly salt: Uint8Array;
}

/** Push services refuse larger bodies (RFC 8030, 7.2); header, delimiter and tag take 103 of them. */
export const MAX_PLAIN_BYTES = 4096 - 103;
const RECORD_BYTES = 4096;
const CURVE = "prime256v1";
/** Ends the last record. */
const DELIMITER = 2;

/** Throws when `p256dh` is no point of the curve. */
export function encryptPush(text: string, { p256dh, auth }: PushKeys, fixed?: FixedSecrets): Buffer {
  const plain = Buffer.from(text);
  if (plain.length > MAX_PLAIN_BYTES) throw new RangeError("A push message has at most 3993 bytes.");
  const own = ownKey(fixed);
  const salt = fixed?.salt ?? randomBytes(16);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), p256dh, own.getPublicKey()]);
  const secret = derived(own.computeSecret(p256dh), auth, info, 32);
  const key = derived(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derived(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const record = Buffer.concat([cipher.update(plain), cipher.update(Buffer.of(DELIMITER)), cipher.final()]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(RECORD_BYTES);
  head.writeUInt8(own.getPublicKey().length, 4);
  return Buffer.concat([salt, head, own.getPublicKey(), record, cipher.getAuthTag()]);
}

/** Whether a browser can have made them: the lengths are right, and the point is on the curve. */
export function isPushKeys({ p256dh, auth }: PushKeys): boolean {
  if (p256dh.length !== 65 || p256dh[0] !== 4 || auth.length !== 16) return false;
  try {
    ownKey().computeSecret(p256dh);
    return true;
  } catch {
    return false;
  }
}

/** One message, one key. */
function ownKey(fixed?: FixedSecrets): ECDH {
  const own = createECDH(CURVE);
  if (fixed) own.setPrivateKey(fixed.privateKey);
  else own.generateKeys();
  return own;
}

const derived = (secret: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, info, length));

// Who sends: a push service takes messages of a subscription only from the key it was made for (RFC 8292).

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
