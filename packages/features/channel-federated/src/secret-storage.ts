/**
 * Secrets of the account that the homeserver stores encrypted, opened by the recovery key.
 * https://spec.matrix.org/v1.16/client-server-api/#msecret_storagev1aes-hmac-sha2
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { type Json, SvcError, trimEndOf } from "@svc/contract";
import { type Fields, fieldsOf, pathPart, wordOf } from "@svc/kit";
import { isRefusal, type MatrixApi } from "./api.ts";

export interface SecretStorage {
  /** Undefined: there is no such secret. Throws CHANNEL_UNAUTHORIZED for a recovery key that does not open it. */
  get(name: string, signal: AbortSignal): Promise<string | undefined>;
  set(name: string, value: string, signal: AbortSignal): Promise<void>;
}

const ALGORITHM = "m.secret_storage.v1.aes-hmac-sha2";
const DEFAULT_KEY = "m.secret_storage.default_key";

/** Undefined: the account has none. Throws CHANNEL_UNAUTHORIZED when the recovery key is another one's. */
export async function openSecretStorage(
  data: AccountData,
  recoveryKey: string,
  signal: AbortSignal,
): Promise<SecretStorage | undefined> {
  const keyId = wordOf((await data.get(DEFAULT_KEY, signal))["key"]);
  if (keyId === undefined) return undefined;
  const { algorithm, iv, mac } = await data.get(`m.secret_storage.key.${keyId}`, signal);
  const key = recoveryKeyBytes(recoveryKey);
  if (algorithm !== ALGORITHM || key === undefined) throw wrongKey();
  if (typeof iv === "string" && typeof mac === "string" && seal(ZEROS, key, "", iv).mac !== unpadded(mac))
    throw wrongKey();
  return storageBy(data, keyId, key);
}

/** Throws as `MatrixApi.call`. */
export async function createSecretStorage(
  data: AccountData,
  signal: AbortSignal,
): Promise<{ readonly storage: SecretStorage; readonly recoveryKey: string }> {
  const key = randomBytes(32);
  const keyId = randomBytes(16).toString("hex");
  const { iv, mac } = seal(ZEROS, key, "");
  await data.set(`m.secret_storage.key.${keyId}`, { algorithm: ALGORITHM, iv, mac }, signal);
  await data.set(DEFAULT_KEY, { key: keyId }, signal);
  return { storage: storageBy(data, keyId, key), recoveryKey: recoveryKeyText(key) };
}

export const hasSecretStorage = async (data: AccountData, signal: AbortSignal): Promise<boolean> =>
  wordOf((await data.get(DEFAULT_KEY, signal))["key"]) !== undefined;

export interface AccountData {
  /** An empty object where it is missing. */
  get(type: string, signal: AbortSignal): Promise<Fields>;
  set(type: string, content: Fields, signal: AbortSignal): Promise<void>;
}

export function accountData(api: MatrixApi, userId: string): AccountData {
  const path = (type: string): string => `client/v3/user/${pathPart(userId)}/account_data/${pathPart(type)}`;
  return {
    async get(type, signal) {
      try {
        return await api.call({ method: "GET", path: path(type) }, signal);
      } catch (error) {
        if (isRefusal(error, "M_NOT_FOUND")) return {};
        throw error;
      }
    },
    async set(type, content, signal) {
      await api.call({ method: "PUT", path: path(type), json: content as Json }, signal);
    },
  };
}

function storageBy(data: AccountData, keyId: string, key: Uint8Array): SecretStorage {
  return {
    async get(name, signal) {
      const sealed = fieldsOf(fieldsOf((await data.get(name, signal))["encrypted"])[keyId]);
      const { iv, ciphertext, mac } = sealed;
      if (typeof iv !== "string" || typeof ciphertext !== "string" || typeof mac !== "string") return undefined;
      return open({ iv, ciphertext, mac }, key, name);
    },
    async set(name, value, signal) {
      const others = fieldsOf((await data.get(name, signal))["encrypted"]);
      const sealed = seal(Buffer.from(value), key, name);
      await data.set(name, { encrypted: { ...others, [keyId]: { ...sealed } } }, signal);
    },
  };
}

interface Sealed {
  readonly iv: string;
  readonly ciphertext: string;
  readonly mac: string;
}

const ZEROS = Buffer.alloc(32);

function keysFor(key: Uint8Array, name: string): readonly [aes: Buffer, hmac: Buffer] {
  const bits = Buffer.from(hkdfSync("sha256", key, Buffer.alloc(8), name, 64));
  return [bits.subarray(0, 32), bits.subarray(32)];
}

function seal(plain: Uint8Array, key: Uint8Array, name: string, givenIv?: string): Sealed {
  const [aes, hmac] = keysFor(key, name);
  const iv = givenIv === undefined ? randomBytes(16) : Buffer.from(givenIv, "base64");
  // Bit 63 stays 0, for implementations that count in 64 bits.
  if (givenIv === undefined) iv[8]! &= 0x7f;
  if (iv.length !== 16) throw wrongKey();
  const cipher = createCipheriv("aes-256-ctr", aes, iv);
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  const mac = createHmac("sha256", hmac).update(ciphertext).digest("base64");
  return {
    iv: unpadded(iv.toString("base64")),
    ciphertext: unpadded(ciphertext.toString("base64")),
    mac: unpadded(mac),
  };
}

function open({ iv, ciphertext, mac }: Sealed, key: Uint8Array, name: string): string {
  const [aes, hmac] = keysFor(key, name);
  const sealed = Buffer.from(ciphertext, "base64");
  const expected = createHmac("sha256", hmac).update(sealed).digest();
  const given = Buffer.from(mac, "base64");
  const counter = Buffer.from(iv, "base64");
  if (given.length !== expected.length || !timingSafeEqual(given, expected) || counter.length !== 16) throw wrongKey();
  const cipher = createDecipheriv("aes-256-ctr", aes, counter);
  return Buffer.concat([cipher.update(sealed), cipher.final()]).toString("utf8");
}

const unpadded = (base64: string): string => trimEndOf(base64, "=");

const wrongKey = (): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "The recovery key does not open the account's secret storage.", {
    hint: "svc secrets set channels_config.federated.recovery_key",
  });

/** https://spec.matrix.org/v1.16/appendices/#cryptographic-key-representation */
const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const PREFIX = Buffer.from([0x8b, 0x01]);

/** Groups of four characters. */
export function recoveryKeyText(key: Uint8Array): string {
  const bytes = Buffer.concat([PREFIX, key]);
  const parity = bytes.reduce((sum, byte) => sum ^ byte, 0);
  let number = BigInt(`0x${Buffer.concat([bytes, Buffer.from([parity])]).toString("hex")}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = DIGITS[Number(number % 58n)] + text;
  return text.match(/.{1,4}/g)!.join(" ");
}

/** Undefined for what is none. */
export function recoveryKeyBytes(text: string): Uint8Array | undefined {
  const digits = [...text.replaceAll(/\s/g, "")].map((digit) => DIGITS.indexOf(digit));
  if (digits.length > 60 || digits.includes(-1)) return undefined;
  const hex = digits.reduce((sum, digit) => sum * 58n + BigInt(digit), 0n).toString(16);
  const bytes = Buffer.from(hex.padStart(70, "0"), "hex");
  const isSound =
    bytes.length === 35 && bytes.subarray(0, 2).equals(PREFIX) && bytes.reduce((sum, byte) => sum ^ byte, 0) === 0;
  return isSound ? bytes.subarray(2, 34) : undefined;
}
