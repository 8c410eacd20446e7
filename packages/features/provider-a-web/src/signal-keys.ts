/**
 * The Signal keys of the linked session, for the library. It writes a step of a ratchet after the message that needs it was sent,
 * and after a received one was confirmed; a kill in between breaks the chat. So its repository works on these keys directly:
 * a step is on disk when `encryptMessage` or `decryptMessage` returns, one step at a time.
 *
 * A received message is on disk in the same commit as its step of the ratchet. What the platform delivers again, because a kill
 * came before the confirmation, is recognised by its ciphertext and decrypted without another step.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import type {
  BinaryNode,
  SignalDataSet,
  SignalDataTypeMap,
  SignalKeyStoreWithTransaction,
  SocketConfig,
} from "baileys";
import type { SessionStore } from "./session-store.ts";

const KEY = "key/";
const MESSAGE = "message/";
const MESSAGE_DIGITS = 12;
/** Decrypted messages that are remembered after they were taken: more than the platform delivers again after a lost connection. */
const MOST_TAKEN = 500;

/** A message as it was decrypted. */
export interface StoredMessage {
  readonly name: string;
  /** Of the stanza that it came in. */
  readonly attrs: Readonly<Record<string, string>>;
  /** A padded `proto.Message`. */
  readonly plaintext: Uint8Array;
}

interface MessageRecord {
  readonly attrs: Readonly<Record<string, string>>;
  readonly plaintext: Uint8Array;
  readonly ciphertextHash: string;
  readonly isTaken: boolean;
}

export interface SignalKeys {
  readonly keys: SignalKeyStoreWithTransaction;
  readonly makeRepository: SocketConfig["makeSignalRepository"];
  /** Called with each stanza before the library handles it. */
  arrived(stanza: BinaryNode): void;
  /** Messages that were decrypted and not taken yet, oldest first. */
  waiting(): StoredMessage[];
  /** They are in the inbox, or are none for it. */
  taken(messages: readonly StoredMessage[]): Promise<void>;
  /** Removes all keys, which belong to a device that is no longer linked; messages stay. */
  forget(): Map<string, undefined>;
}

/** `onMessage`: there is one more in `waiting`. `onFailure`: the store refused, so nothing may be confirmed to the platform. */
export function createSignalKeys(
  store: SessionStore,
  library: typeof import("baileys"),
  { onMessage, onFailure }: { readonly onMessage: () => void; readonly onFailure: (error: unknown) => void },
): SignalKeys {
  const transactions = new AsyncLocalStorage<Map<string, unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  const commit = async (changes: ReadonlyMap<string, unknown>): Promise<void> => {
    if (changes.size === 0) return;
    await store.commit(changes).catch((error: unknown) => {
      onFailure(error);
      throw error;
    });
  };
  const keys: SignalKeyStoreWithTransaction = {
    get: async (type, ids) => {
      const open = transactions.getStore();
      const found: Record<string, unknown> = {};
      for (const id of ids) {
        const name = nameOf(type, id);
        const value = open?.has(name) ? open.get(name) : store.get(name);
        // The library mutates its arguments.
        if (value !== undefined) found[id] = deserialize(serialize(value));
      }
      return found as Record<string, SignalDataTypeMap[typeof type]>;
    },
    set: async (data) => {
      const changes = changesOf(data);
      const open = transactions.getStore();
      if (!open) return await commit(changes);
      for (const [name, value] of changes) open.set(name, value);
    },
    isInTransaction: () => transactions.getStore() !== undefined,
    transaction(work, key) {
      if (transactions.getStore()) return work();
      const run = async () => {
        const changes = new Map<string, unknown>();
        const result = await transactions.run(changes, work);
        await commit(changes);
        return result;
      };
      // A lookup of a number by one transaction is shared with others, and ends by storing what it found.
      if (key === "lid-mapping") return run();
      // One after the other: the library has several names for one session.
      const mine = last.then(run, run);
      last = mine.catch(() => undefined);
      return mine;
    },
  };

  /** Attributes of stanzas that are not decrypted yet, by the hash of a ciphertext in them. */
  const stanzas = new Map<string, Readonly<Record<string, string>>>();
  const byCiphertext = new Map<string, string>();
  let nextMessage = 0;
  for (const [name, value] of store.entries(MESSAGE)) {
    byCiphertext.set((value as MessageRecord).ciphertextHash, name);
    nextMessage = Number(name.slice(MESSAGE.length)) + 1;
  }

  const decryptedOnce = (ciphertext: Uint8Array, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array> =>
    keys
      .transaction(async () => {
        const ciphertextHash = hashOf(ciphertext);
        const known = byCiphertext.get(ciphertextHash);
        const record = known === undefined ? undefined : (store.get(known) as MessageRecord | undefined);
        if (record) return record.plaintext;
        const plaintext = await decrypt();
        const attrs = stanzas.get(ciphertextHash);
        stanzas.delete(ciphertextHash);
        const name = `${MESSAGE}${String(nextMessage).padStart(MESSAGE_DIGITS, "0")}`;
        nextMessage += 1;
        const stored: MessageRecord = { attrs: attrs ?? {}, plaintext, ciphertextHash, isTaken: attrs === undefined };
        transactions.getStore()!.set(name, stored);
        byCiphertext.set(ciphertextHash, name);
        return plaintext;
      }, "decrypt")
      .then((plaintext) => {
        onMessage();
        return plaintext;
      });

  return {
    keys,
    makeRepository(auth, logger, pnToLid) {
      const repository = library.DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
        { creds: auth.creds, keys },
        logger,
        pnToLid,
      );
      return {
        ...repository,
        decryptMessage: (options) => decryptedOnce(options.ciphertext, () => repository.decryptMessage(options)),
        decryptGroupMessage: (options) => decryptedOnce(options.msg, () => repository.decryptGroupMessage(options)),
      };
    },
    arrived(stanza) {
      if (stanza.tag !== "message" || !Array.isArray(stanza.content)) return;
      for (const { tag, content } of stanza.content) {
        if (tag === "enc" && content instanceof Uint8Array) stanzas.set(hashOf(content), { ...stanza.attrs });
      }
      // Those that can't be decrypted stay: a flood of them must not fill the memory.
      for (const oldest of stanzas.keys()) {
        if (stanzas.size <= MOST_STANZAS) break;
        stanzas.delete(oldest);
      }
    },
    waiting: () =>
      store.entries(MESSAGE).flatMap(([name, value]) => {
        const { attrs, plaintext, isTaken } = value as MessageRecord;
        return isTaken ? [] : [{ name, attrs, plaintext }];
      }),
    async taken(messages) {
      const changes = new Map<string, unknown>();
      for (const { name } of messages) {
        const record = store.get(name) as MessageRecord | undefined;
        if (record) changes.set(name, { ...record, isTaken: true });
      }
      const isOver = ([name, value]: [string, unknown]): boolean =>
        (value as MessageRecord).isTaken || changes.has(name);
      const over = store.entries(MESSAGE).filter(isOver);
      for (const [name, value] of over.slice(0, Math.max(0, over.length - MOST_TAKEN))) {
        changes.set(name, undefined);
        byCiphertext.delete((value as MessageRecord).ciphertextHash);
      }
      await commit(changes);
    },
    forget: () => new Map(store.entries(KEY).map(([name]) => [name, undefined])),
  };
}

const MOST_STANZAS = 10_000;

const nameOf = (type: string, id: string): string => `${KEY}${type}/${id}`;
const hashOf = (bytes: Uint8Array): string => hash("sha256", bytes, "base64url");

function changesOf(data: SignalDataSet): Map<string, unknown> {
  const changes = new Map<string, unknown>();
  for (const [type, values] of Object.entries(data)) {
    for (const [id, value] of Object.entries(values)) changes.set(nameOf(type, id), value ?? undefined);
  }
  return changes;
}
