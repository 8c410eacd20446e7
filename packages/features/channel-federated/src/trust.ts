/**
 * What others trust this device by, and what brings back lost keys: the account's cross-signing keys and its key backup.
 * https://spec.matrix.org/v1.16/client-server-api/#cross-signing, #server-side-key-backups
 */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, parseJson, pathPart, wordOf } from "@svc/kit";
import { isDefinite, isRefusal, type MatrixApi, MatrixRefusal } from "./api.ts";
import { CHANNEL, type Config, isGiven } from "./config.ts";
import type { Crypto, MachineRequest } from "./crypto.ts";
import { accountData, createSecretStorage, hasSecretStorage, openSecretStorage } from "./secret-storage.ts";

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
