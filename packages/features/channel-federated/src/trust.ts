/**
 * What others trust this device by, and what brings back lost keys: the account's cross-signing keys and its key backup.
 * https://spec.matrix.org/v1.16/client-server-api/#cross-signing, #server-side-key-backups
 */
import { type FeatureContext, type Json, SvcError, trimEndOf } from "@svc/contract";
import { type Fields, fieldsOf, parseJson, pathPart, wordOf } from "@svc/kit";
import { type MatrixApi, MatrixRefusal, isDefinite, isRefusal } from "./api.ts";
import { CHANNEL, type Config, isGiven } from "./config.ts";
import type { Crypto, MachineRequest } from "./crypto.ts";
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

export interface TrustDeps {
  readonly api: MatrixApi;
  readonly crypto: Crypto;
  readonly userId: string;
  readonly deviceId: string;
  readonly context: Pick<FeatureContext<Config>, "config" | "log">;
}

export interface Trust {
  /** Makes or takes up the cross-signing keys and the backup. What can't be done is logged. Throws REMOTE_* and CHANNEL_UNAUTHORIZED. */
  establish(signal: AbortSignal): Promise<void>;
  /** Sends keys that are not backed up yet, and takes up a backup key that another device has sent. */
  keepUp(signal: AbortSignal): Promise<void>;
  /** Whether the key of this session came out of the backup. */
  findKey(roomId: string, sessionId: string, signal: AbortSignal): Promise<boolean>;
  /** A recovery key for an account that has none; undefined where it has one, or where its keys are not here. */
  makeRecoveryKey(signal: AbortSignal): Promise<string | undefined>;
}

const BACKUP_ALGORITHM = "m.megolm_backup.v1.curve25519-aes-sha2";
/** An Ed25519 key in base64, with or without padding. */
const SESSION_ID = /^[\w+/=-]{1,64}$/;
/** Names in the secret storage. */
const SECRETS = {
  master: "m.cross_signing.master",
  selfSigning: "m.cross_signing.self_signing",
  userSigning: "m.cross_signing.user_signing",
  backup: "m.megolm_backup.v1",
} as const;

export function createTrust({ api, crypto, userId, deviceId, context: { config, log } }: TrustDeps): Trust {
  const { machine, wasm } = crypto;
  const data = accountData(api, userId);
  /** Of the backup on the homeserver; undefined: it is missing, or its key is not here. */
  let version: string | undefined;
  let recoverableKey: string | undefined;

  const isComplete = async (): Promise<boolean> => {
    const { hasMaster, hasSelfSigning, hasUserSigning } = await machine.crossSigningStatus();
    return hasMaster && hasSelfSigning && hasUserSigning;
  };

  const signOwnDevice = async (signal: AbortSignal): Promise<void> => {
    const device = await machine.getDevice(new wasm.UserId(userId), new wasm.DeviceId(deviceId));
    if (device && !device.isCrossSignedByOwner()) await crypto.post((await device.verify()) as MachineRequest, signal);
  };

  /** The first keys need no password on current homeservers; others ask for it. */
  const uploadSigningKeys = async (body: string, signal: AbortSignal): Promise<void> => {
    const path = "client/v3/keys/device_signing/upload";
    try {
      await api.call({ method: "POST", path, jsonText: body }, signal);
    } catch (error) {
      if (!(error instanceof MatrixRefusal) || error.httpStatus !== 401 || !isGiven(config.password)) throw error;
      const identifier = { type: "m.id.user", user: userId };
      const auth = { type: "m.login.password", identifier, password: config.password, session: error.session ?? null };
      const json = { ...fieldsOf(parseJson(Buffer.from(body))), auth } as Json;
      await api.call({ method: "POST", path, json }, signal);
    }
  };

  const establishSigning = async (signal: AbortSignal): Promise<void> => {
    // The account's other devices: what an unknown one asks for is not heard.
    await machine.updateTrackedUsers([new wasm.UserId(userId)]);
    await crypto.post(machine.queryKeysForUsers([new wasm.UserId(userId)]) as MachineRequest, signal);
    const identity = await machine.getIdentity(new wasm.UserId(userId));
    if (identity === undefined) {
      // Keys that were made and did not reach the homeserver are sent again.
      const requests = await machine.bootstrapCrossSigning(!(await isComplete()));
      if (requests.uploadKeysRequest) await crypto.post(requests.uploadKeysRequest as MachineRequest, signal);
      await uploadSigningKeys(requests.uploadSigningKeysRequest.body, signal);
      await crypto.post(requests.uploadSignaturesRequest as MachineRequest, signal);
      log.info("made cross-signing keys for the account", { channel: CHANNEL });
    } else if (!(await isComplete())) {
      const storage = isGiven(config.recovery_key)
        ? await openSecretStorage(data, config.recovery_key, signal)
        : undefined;
      const [master, selfSigning, userSigning] = await Promise.all(
        [SECRETS.master, SECRETS.selfSigning, SECRETS.userSigning].map((name) => storage?.get(name, signal)),
      );
      if (master === undefined || selfSigning === undefined || userSigning === undefined) {
        log.info("this device is not verified by the account", {
          channel: CHANNEL,
          hint: "svc channels verify federated, or set recovery_key",
        });
        return;
      }
      await machine.importCrossSigningKeys(master, selfSigning, userSigning);
      if (!(await isComplete())) throw wrongKeys();
    }
    await signOwnDevice(signal);
  };

  const serverBackup = async (signal: AbortSignal): Promise<Fields | undefined> => {
    try {
      return await api.call({ method: "GET", path: "client/v3/room_keys/version" }, signal);
    } catch (error) {
      if (isRefusal(error, "M_NOT_FOUND")) return undefined;
      throw error;
    }
  };

  const useBackup = async (key: string, at: string, publicKey: unknown): Promise<boolean> => {
    const decryption = wasm.BackupDecryptionKey.fromBase64(key);
    const own = decryption.megolmV1PublicKey.publicKeyBase64;
    if (own !== publicKey) return false;
    await machine.saveBackupDecryptionKey(decryption, at);
    await machine.enableBackupV1(own, at);
    [version, recoverableKey] = [at, key];
    return true;
  };

  const newBackup = async (signal: AbortSignal): Promise<void> => {
    const decryption = wasm.BackupDecryptionKey.createRandomKey();
    const signed = { public_key: decryption.megolmV1PublicKey.publicKeyBase64 };
    const signatures = parseJson(Buffer.from((await machine.sign(JSON.stringify(signed))).asJSON())) ?? null;
    const json = { algorithm: BACKUP_ALGORITHM, auth_data: { ...signed, signatures } };
    const answer = await api.call({ method: "POST", path: "client/v3/room_keys/version", json }, signal);
    const made = wordOf(answer["version"]);
    if (made !== undefined) await useBackup(decryption.toBase64(), made, signed.public_key);
  };

  const establishBackup = async (signal: AbortSignal): Promise<void> => {
    const backup = await serverBackup(signal);
    if (backup === undefined) {
      if (await isComplete()) await newBackup(signal);
      return;
    }
    const at = wordOf(backup["version"]);
    const publicKey = fieldsOf(backup["auth_data"])["public_key"];
    if (at === undefined || backup["algorithm"] !== BACKUP_ALGORITHM) return;
    const known = (await machine.getBackupKeys()).decryptionKeyBase64;
    if (known !== undefined && (await useBackup(known, at, publicKey))) return;
    const storage = isGiven(config.recovery_key)
      ? await openSecretStorage(data, config.recovery_key, signal)
      : undefined;
    const stored = await storage?.get(SECRETS.backup, signal);
    if (stored !== undefined && (await useBackup(stored, at, publicKey))) return;
    for (const sent of await machine.getSecretsFromInbox(SECRETS.backup)) {
      if (await useBackup(sent, at, publicKey)) await machine.deleteSecretsFromInbox(SECRETS.backup);
    }
  };

  return {
    async establish(signal) {
      for (const work of [establishSigning, establishBackup]) {
        try {
          await work(signal);
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof SvcError)) throw error;
          const { code, message, hint } = error;
          log.warn("cross-signing or key backup is not in order", { channel: CHANNEL, code, error: message, hint });
        }
      }
    },
    async keepUp(signal) {
      if (version === undefined) {
        const sent = await machine.getSecretsFromInbox(SECRETS.backup);
        if (sent.size > 0) await establishBackup(signal);
        return;
      }
      for (let request = await machine.backupRoomKeys(); request; request = await machine.backupRoomKeys()) {
        await crypto.post(request as MachineRequest, signal);
      }
    },
    async findKey(roomId, sessionId, signal) {
      // Its sender chose it: it becomes a part of a path.
      if (version === undefined || recoverableKey === undefined || !SESSION_ID.test(sessionId)) return false;
      try {
        const path = `client/v3/room_keys/keys/${pathPart(roomId)}/${pathPart(sessionId)}`;
        const session = fieldsOf((await api.call({ method: "GET", path, query: { version } }, signal))["session_data"]);
        const { ephemeral, mac, ciphertext } = session;
        const opened = wasm.BackupDecryptionKey.fromBase64(recoverableKey).decryptV1(
          String(ephemeral),
          String(mac),
          String(ciphertext),
        );
        const key = fieldsOf(parseJson(Buffer.from(opened)));
        const keys = new Map([[new wasm.RoomId(roomId), new Map([[sessionId, key]])]]);
        const { importedCount } = await machine.importBackedUpRoomKeys(keys, undefined as never, version);
        return importedCount > 0;
      } catch (error) {
        signal.throwIfAborted();
        if (isDefinite(error) || !(error instanceof SvcError)) return false;
        throw error;
      }
    },
    async makeRecoveryKey(signal) {
      if (!(await isComplete()) || (await hasSecretStorage(data, signal))) return undefined;
      const exported = await machine.exportCrossSigningKeys();
      if (exported === undefined) return undefined;
      const { storage, recoveryKey } = await createSecretStorage(data, signal);
      const named = [
        [SECRETS.master, exported.masterKey],
        [SECRETS.selfSigning, exported.self_signing_key],
        [SECRETS.userSigning, exported.userSigningKey],
        [SECRETS.backup, recoverableKey],
      ] as const;
      for (const [name, value] of named) if (value !== undefined) await storage.set(name, value, signal);
      return recoveryKey;
    },
  };
}

const wrongKeys = (): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "The keys in the account's secret storage are not those of the account.", {
    hint: "Verify this device from another one: svc channels verify federated",
  });

// Secrets of the account that the homeserver stores encrypted, opened by the recovery key.
// https://spec.matrix.org/v1.16/client-server-api/#msecret_storagev1aes-hmac-sha2

interface SecretStorage {
  /** Undefined: there is no such secret. Throws CHANNEL_UNAUTHORIZED for a recovery key that does not open it. */
  get(name: string, signal: AbortSignal): Promise<string | undefined>;
  set(name: string, value: string, signal: AbortSignal): Promise<void>;
}

const ALGORITHM = "m.secret_storage.v1.aes-hmac-sha2";
const DEFAULT_KEY = "m.secret_storage.default_key";

/** Undefined: the account has none. Throws CHANNEL_UNAUTHORIZED when the recovery key is another one's. */
async function openSecretStorage(
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
async function createSecretStorage(
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

const hasSecretStorage = async (data: AccountData, signal: AbortSignal): Promise<boolean> =>
  wordOf((await data.get(DEFAULT_KEY, signal))["key"]) !== undefined;

interface AccountData {
  /** An empty object where it is missing. */
  get(type: string, signal: AbortSignal): Promise<Fields>;
  set(type: string, content: Fields, signal: AbortSignal): Promise<void>;
}

function accountData(api: MatrixApi, userId: string): AccountData {
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
