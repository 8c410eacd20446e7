/**
 * End-to-end encryption by the Matrix Rust SDK, compiled to WebAssembly. It makes no requests: what it wants to be sent is sent
 * here, and its answers are handed back. Whatever it decides is on disk before it says so (`crypto-store`).
 * https://matrix-org.github.io/matrix-rust-sdk-crypto-wasm/
 */
import type { OlmMachine } from "@matrix-org/matrix-sdk-crypto-wasm";
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, parseJson, pathPart, Semaphore, wordOf } from "@svc/kit";
import { isDefinite, isRefusal, type MatrixApi, MatrixRefusal } from "./api.ts";
import { type RoomEncryption, roomPath } from "./rooms.ts";

export type Wasm = typeof import("@matrix-org/matrix-sdk-crypto-wasm");

/** A store of keys as IndexedDB, which survives this process: see `crypto-store/`. */
export interface KeyStore {
  /** Makes it the process's IndexedDB, where the library looks for one. */
  install(): Disposable;
  /** What is stored while `work` goes on is on disk as one once this has resolved. When it rejects, the store refuses from then on. */
  atomically<T>(work: () => Promise<T>): Promise<T>;
  /** Why it could not be read or written since it was opened; undefined: it could. */
  refusal(): SvcError | undefined;
  close(): void;
}

export interface CryptoDeps {
  readonly api: MatrixApi;
  readonly userId: string;
  readonly deviceId: string;
  readonly openStore: (identity: { readonly userId: string; readonly deviceId: string }) => Promise<KeyStore>;
  /** Who may ask for a verification beside the account's own devices, by user id. */
  readonly people: readonly string[];
  readonly log: FeatureContext["log"];
}

/** What a sync brings for the machine. https://spec.matrix.org/v1.16/client-server-api/#extensions-to-sync */
export interface CryptoChanges {
  readonly toDevice: readonly Json[];
  readonly changed: readonly string[];
  readonly left: readonly string[];
  readonly keyCounts: Fields;
  /** Undefined: the homeserver does not say. */
  readonly unusedFallbackKeys: readonly string[] | undefined;
}

export type Decrypted =
  | { readonly state: "decrypted"; readonly event: Fields }
  /** Its key has not come yet. `isMissing`: nor has one of a later message of its session. `withheld`: why its sender's app sends none. */
  | {
      readonly state: "waiting";
      readonly sessionId: string | undefined;
      readonly isMissing: boolean;
      readonly withheld?: string;
    }
  /** No key can ever open it, or its sender is not who it says. */
  | { readonly state: "unreadable" };

export interface Crypto {
  readonly machine: OlmMachine;
  readonly wasm: Wasm;
  /** Throws as `MatrixApi.call`. */
  receive(changes: CryptoChanges, signal: AbortSignal): Promise<void>;
  /** Throws STORE_* when the store of the keys refused, which says nothing of the message. */
  decrypt(roomId: string, event: Fields): Promise<Decrypted>;
  /** Content of an `m.room.encrypted` event that the devices of these people can read. Throws as `MatrixApi.call`. */
  encrypt(message: OutgoingEvent, signal: AbortSignal): Promise<Fields>;
  readonly askers: Askers;
  /** Sends what the machine wants to be sent. Throws as `MatrixApi.call`, and FEATURE_FAILED for a conflict of keys. */
  flush(signal: AbortSignal): Promise<void>;
  /** Sends one request of the machine's and hands it the answer. Throws as `MatrixApi.call`. */
  post(request: MachineRequest, signal: AbortSignal): Promise<void>;
  /** See `KeyStore`. */
  refusal(): SvcError | undefined;
  close(): Promise<void>;
}

export interface OutgoingEvent {
  readonly roomId: string;
  readonly userIds: readonly string[];
  readonly encryption: RoomEncryption;
  readonly type: string;
  readonly content: Json;
}

/** The fields that the machine's requests have in common; some kinds have more. */
export interface MachineRequest {
  readonly id?: string | undefined;
  readonly type: number;
  readonly body: string;
  readonly event_type?: string;
  readonly txn_id?: string;
  readonly room_id?: string;
  readonly version?: string;
}

/** This device's keys are lost, or another program uses it too: what is encrypted for it can't be read any more. */
export class DeviceLost extends SvcError {
  constructor(message: string) {
    super("FEATURE_FAILED", message, {
      hint: "Log in as a new device: svc channels setup federated, then svc reload. With access_token, set a new one.",
    });
  }
}

/** More than any exchange of keys takes; what asks for more goes on with the next sync. */
const MOST_ROUNDS = 10;

/** Takes about 0.3 s and 60 MB. Throws STORE_* and FEATURE_FAILED. */
export async function openCrypto({ api, userId, deviceId, openStore, people, log }: CryptoDeps): Promise<Crypto> {
  const wasm = await loadWasm();
  const store = await openStore({ userId, deviceId });
  let installed: Disposable | undefined;
  let machine: OlmMachine;
  try {
    installed = store.install();
    const handle = await wasm.StoreHandle.open(`${userId} ${deviceId}`, undefined);
    machine = await wasm.OlmMachine.initFromStore(new wasm.UserId(userId), new wasm.DeviceId(deviceId), handle);
  } catch (error) {
    installed?.[Symbol.dispose]();
    store.close();
    const refusal = store.refusal();
    if (refusal) throw refusal;
    throw new SvcError("FEATURE_FAILED", "The store of the encryption keys can't be opened.", {
      cause: error,
      hint: "Restore $SVC_HOME from a backup, or log in as a new device: svc channels setup federated",
    });
  }
  const trust = () => new wasm.DecryptionSettings(wasm.TrustRequirement.Untrusted);
  /** Held by all that uses sessions with other devices: an exchange of keys, and what a sync brings. */
  const lock = new Semaphore(1);
  /** Resolves once the store is not amid what a sync brought. */
  let received: Promise<unknown> = Promise.resolve();
  /** Rooms that this process has a session of its own for. */
  const begun = new Set<string>();

  const answerTo = async (request: MachineRequest, signal: AbortSignal): Promise<Fields> => {
    const { type, body: jsonText, event_type: eventType = "", txn_id: txnId = "" } = request;
    const post = (path: string): Promise<Fields> => api.call({ method: "POST", path, jsonText }, signal);
    switch (type as import("@matrix-org/matrix-sdk-crypto-wasm").RequestType) {
      case wasm.RequestType.KeysUpload:
        return await post("client/v3/keys/upload").catch(asConflict);
      case wasm.RequestType.KeysQuery:
        return await api.call(
          { method: "POST", path: "client/v3/keys/query", jsonText, maxBytes: MAX_KEYS_BYTES },
          signal,
        );
      case wasm.RequestType.KeysClaim:
        return await post("client/v3/keys/claim");
      case wasm.RequestType.SignatureUpload:
        return await post("client/v3/keys/signatures/upload");
      case wasm.RequestType.ToDevice: {
        const path = `client/v3/sendToDevice/${pathPart(eventType)}/${pathPart(txnId)}`;
        return await api.call({ method: "PUT", path, jsonText }, signal);
      }
      case wasm.RequestType.RoomMessage: {
        const path = roomPath(request.room_id ?? "", `send/${pathPart(eventType)}/${pathPart(txnId)}`);
        return await api.call({ method: "PUT", path, jsonText }, signal);
      }
      case wasm.RequestType.KeysBackup: {
        const query = { version: request.version };
        return await api.call({ method: "PUT", path: "client/v3/room_keys/keys", query, jsonText }, signal);
      }
    }
  };
  const post = async (request: MachineRequest, signal: AbortSignal): Promise<void> => {
    // A request may hold what is on disk with that alone.
    await received;
    const answer = await answerTo(request, signal);
    if (request.id !== undefined) await machine.markRequestAsSent(request.id, request.type, JSON.stringify(answer));
  };
  const flush = async (signal: AbortSignal): Promise<void> => {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const requests = (await machine.outgoingRequests()) as readonly MachineRequest[];
      if (requests.length === 0) return;
      for (const request of requests) {
        await post(request, signal).catch(async (error: unknown) => {
          // With each connection it would be sent, and refused, again.
          if (!isDefinite(error) || !isMessage(request) || request.id === undefined) throw error;
          const { event_type: type } = request;
          log.warn("a message of the encryption was refused", { channel: "federated", type, errcode: error.errcode });
          await machine.markRequestAsSent(request.id, request.type, "{}");
        });
      }
    }
  };
  const isMessage = ({ type }: MachineRequest): boolean =>
    type === wasm.RequestType.ToDevice || type === wasm.RequestType.RoomMessage;

  const askers = createAskers({ machine, wasm, post, people: [userId, ...people], log });

  return {
    machine,
    wasm,
    post,
    refusal: () => store.refusal(),
    flush: (signal) => lock.run(() => flush(signal)),
    async receive({ toDevice, changed, left, keyCounts, unusedFallbackKeys }, signal) {
      const usersOf = (ids: readonly string[]) => ids.flatMap((id) => userIdIn(wasm, id) ?? []);
      const counts = new Map(
        Object.entries(keyCounts).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
      );
      const take = () =>
        machine.receiveSyncChanges(
          JSON.stringify(toDevice),
          new wasm.DeviceLists(usersOf(changed), usersOf(left)),
          counts,
          unusedFallbackKeys && new Set(unusedFallbackKeys),
          trust(),
        );
      await lock.run(async () => {
        await askers.expect(toDevice, signal);
        // A new session is stored before the key that its first message brought. After a kill between them, the message that comes
        // again could not be decrypted any more: hence all of it at once, or nothing.
        const taken = store.atomically(take);
        received = taken.catch(() => undefined);
        for (const { type } of await taken) {
          if (type !== wasm.ProcessedToDeviceEventType.UnableToDecrypt) continue;
          // After a kill it is one that came before. Else the session with its sender is broken, and the SDK makes a new one.
          log.info("a message between devices can't be decrypted; it may have brought keys", { channel: "federated" });
        }
      });
    },
    async decrypt(roomId, event) {
      try {
        const opened = await machine.decryptRoomEvent(JSON.stringify(event), new wasm.RoomId(roomId), trust());
        const plain = fieldsOf(parseJson(Buffer.from(opened.event)));
        return { state: "decrypted", event: { ...event, ...pick(plain) } };
      } catch (error) {
        // The library tells of a disk that refuses as of a message that no key can open.
        const refusal = store.refusal();
        if (refusal) throw refusal;
        const sessionId = wordOf(fieldsOf(event["content"])["session_id"]);
        if (!(error instanceof wasm.MegolmDecryptionError)) {
          log.error("the encryption library failed; the message waits", { channel: "federated", error: String(error) });
          return { state: "waiting", sessionId, isMissing: false };
        }
        const isWaiting =
          error.code === wasm.DecryptionErrorCode.MissingRoomKey ||
          error.code === wasm.DecryptionErrorCode.UnknownMessageIndex ||
          error.code === wasm.DecryptionErrorCode.UnknownSenderDevice;
        log.debug("a message can't be decrypted", { channel: "federated", code: wasm.DecryptionErrorCode[error.code] });
        if (!isWaiting) return { state: "unreadable" };
        const isMissing = error.code === wasm.DecryptionErrorCode.MissingRoomKey;
        const { withheldCode: withheld } = error;
        return { state: "waiting", sessionId, isMissing, ...(withheld !== undefined && { withheld }) };
      }
    },
    askers,
    encrypt: ({ roomId, userIds, encryption, type, content }, signal) =>
      lock.run(async () => {
        signal.throwIfAborted();
        // Each call takes its ids away.
        const users = () => userIds.flatMap((id) => userIdIn(wasm, id) ?? []);
        await machine.updateTrackedUsers(users());
        await flush(signal);
        const claim = await machine.getMissingSessions(users());
        if (claim) await post(claim as MachineRequest, signal);
        // Where a backup was restored, the old session would be used a second time, which others refuse to read.
        if (!begun.has(roomId)) await machine.invalidateGroupSession(new wasm.RoomId(roomId));
        begun.add(roomId);
        const settings = new wasm.EncryptionSettings();
        if (encryption.rotationMs !== undefined) settings.rotationPeriod = BigInt(encryption.rotationMs) * 1000n;
        if (encryption.rotationMessages !== undefined) {
          settings.rotationPeriodMessages = BigInt(encryption.rotationMessages);
        }
        const shares = await machine.shareRoomKey(new wasm.RoomId(roomId), users(), settings);
        for (const share of shares) await post(share as MachineRequest, signal);
        const sealed = await machine.encryptRoomEvent(new wasm.RoomId(roomId), type, JSON.stringify(content));
        return fieldsOf(parseJson(Buffer.from(sealed)));
      }),
    close: () =>
      lock.run(async () => {
        machine.close();
        installed[Symbol.dispose]();
        store.close();
      }),
  };
}

const MAX_KEYS_BYTES = 33_554_432;

/** Read and compiled once in a process. */
async function loadWasm(): Promise<Wasm> {
  const wasm = await import("@matrix-org/matrix-sdk-crypto-wasm");
  await wasm.initAsync();
  return wasm;
}

/** Undefined for what is no user id. */
function userIdIn(wasm: Wasm, id: string) {
  try {
    return new wasm.UserId(id);
  } catch {
    return undefined;
  }
}

/** The event's envelope stays as the homeserver sent it. */
const pick = ({ type, content }: Fields): Fields => ({ type: type ?? "", content: content ?? {} });

/** Keys are refused under ids that the homeserver has other keys of. A 400 without a code is a proxy's, and says nothing of keys. */
function asConflict(error: unknown): never {
  const isRefused = error instanceof MatrixRefusal && error.httpStatus === 400 && error.errcode !== undefined;
  const isConflict = isRefused && !isRefusal(error, "M_LIMIT_EXCEEDED");
  if (!isConflict) throw error;
  throw new DeviceLost("The homeserver has other encryption keys of this device.");
}

/** Who asks to verify this device: the machine drops what a device begins that it does not know. */
interface Askers {
  /** People who have asked in a room. */
  readonly inRooms: ReadonlySet<string>;
  /** Comparisons that a device began without a request before them, by their ids, and whose device it is. */
  readonly starts: ReadonlyMap<string, string>;
  /** Before the machine is handed these. Throws as `MatrixApi.call`. */
  expect(toDevice: readonly Json[], signal: AbortSignal): Promise<void>;
  /** Hands the machine an event of a verification in a room; see `isVerification` of `verification.ts`. Throws as `MatrixApi.call`. */
  heard(roomId: string, event: Fields, signal: AbortSignal): Promise<void>;
}

export interface AskersDeps extends Pick<Crypto, "machine" | "wasm" | "post"> {
  /** Whose devices may ask without a room. */
  readonly people: readonly string[];
  readonly log: FeatureContext["log"];
}

const MOST_IN_ROOMS = 100;
const MOST_STARTS = 100;
/** What a device may begin a verification with. */
const BEGINS: ReadonlySet<string> = new Set(["m.key.verification.request", "m.key.verification.start"]);

function createAskers({ machine, wasm, post, people, log }: AskersDeps): Askers {
  const inRooms = new Set<string>();
  const starts = new Map<string, string>();
  const mayAsk = new Set(people);

  const learnDevices = async (sender: string, signal: AbortSignal): Promise<void> => {
    const user = userIdIn(wasm, sender);
    if (user === undefined) return;
    await machine.updateTrackedUsers([user]);
    await post(machine.queryKeysForUsers([new wasm.UserId(sender)]) as MachineRequest, signal);
  };

  return {
    inRooms,
    starts,
    async expect(toDevice, signal) {
      const begun = toDevice
        .map(fieldsOf)
        .filter(({ type, sender }) => BEGINS.has(String(type)) && mayAsk.has(String(sender)));
      for (const sender of new Set(begun.map((event) => String(event["sender"])))) await learnDevices(sender, signal);
      for (const { type, sender, content } of begun) {
        const id = wordOf(fieldsOf(content)["transaction_id"]);
        if (type !== "m.key.verification.start" || id === undefined) continue;
        starts.set(id, String(sender));
        for (const oldest of starts.keys()) if (starts.size > MOST_STARTS) starts.delete(oldest);
      }
    },
    async heard(roomId, event, signal) {
      const sender = String(event["sender"]);
      if (userIdIn(wasm, sender) === undefined) return;
      if (event["type"] === "m.room.message") {
        inRooms.delete(sender);
        inRooms.add(sender);
        for (const oldest of inRooms) if (inRooms.size > MOST_IN_ROOMS) inRooms.delete(oldest);
        await learnDevices(sender, signal);
      }
      try {
        // It throws before there is a promise where an event lacks a field.
        await machine.receiveVerificationEvent(JSON.stringify(event), new wasm.RoomId(roomId));
      } catch {
        log.debug("an event of a verification can't be read", { channel: "federated" });
      }
    },
  };
}
