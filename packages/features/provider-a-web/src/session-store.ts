/**
 * The linked session: credentials, Signal keys, messages that were decrypted and those that were sent, as records by name.
 * They are in the feature's encrypted store, as a journal: one entry is one commit, which is on disk as a whole or not at all,
 * and from time to time all records become one base, after which the entries before it go.
 *
 *     <session>/base/<generation>            all records
 *     <session>/log/<generation>/<number>    records that one commit changed
 */
import { hash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { type SecretStore, SvcError } from "@svc/contract";
import { Semaphore } from "@svc/kit";
import { AsyncLocalStorage } from "node:async_hooks";
import type {
  BinaryNode,
  SignalDataSet,
  SignalDataTypeMap,
  SignalKeyStoreWithTransaction,
  SocketConfig,
} from "baileys";

/** A value of undefined removes the record. Values are plain data and bytes. */
export type Changes = ReadonlyMap<string, unknown>;

export interface SessionStore {
  get(name: string): unknown;
  /** Names that begin with `prefix`, with their values, in the order of their names. */
  entries(prefix: string): [name: string, value: unknown][];
  /**
   * Resolves once all of it is on disk; then it can be read too. Rejects with STORE_*: none of it is on disk, and nothing is written
   * any more, so that memory never holds what a restart would lose.
   */
  commit(changes: Changes): Promise<void>;
  /** Why it could not be written. */
  readonly failure: unknown;
}

const MOST_ENTRIES = 250;
const DIGITS = 10;

/** Rejects with STORE_* and SECRET_UNREADABLE. */
export async function openSessionStore(secrets: SecretStore, sessionPath: string): Promise<SessionStore> {
  // A path may be longer than the name of a record.
  const session = hash("sha256", sessionPath).slice(0, 16);
  const bases = await secrets.list(`${session}/base/`);
  const base = bases.at(-1);
  let generation = base === undefined ? 0 : Number(base.slice(-DIGITS));
  let records = new Map<string, unknown>();
  if (base !== undefined) records = decoded(await secrets.get(base));
  const logs = await secrets.list(`${session}/log/`);
  const current = logPrefix(session, generation);
  const entries = logs.filter((name) => name.startsWith(current));
  for (const name of entries) apply(records, decoded(await secrets.get(name)));
  // A process may have been killed before it removed them.
  const leftovers = [...bases.slice(0, -1), ...logs.filter((name) => !name.startsWith(current))];

  let count = entries.length;
  let next = entries.length === 0 ? 0 : Number(entries.at(-1)!.slice(-DIGITS)) + 1;
  let failure: unknown;
  let pending: { changes: Map<string, unknown>; done: PromiseWithResolvers<void> } | undefined;
  let isWriting = false;

  const removeAll = async (names: readonly string[]): Promise<void> => {
    await Promise.all(names.map((name) => secrets.delete(name)));
  };
  const compact = async (): Promise<void> => {
    const old = [...(await secrets.list(`${session}/base/`)), ...(await secrets.list(`${session}/log/`))];
    await secrets.set(`${session}/base/${numbered(generation + 1)}`, encoded(records));
    [generation, next, count] = [generation + 1, 0, 0];
    await removeAll(old);
  };
  const write = async (): Promise<void> => {
    isWriting = true;
    for (let batch = pending; batch; batch = pending) {
      pending = undefined;
      try {
        if (failure !== undefined) throw failure;
        await secrets.set(`${logPrefix(session, generation)}${numbered(next)}`, encoded(batch.changes));
        next += 1;
        count += 1;
        apply(records, batch.changes);
        batch.done.resolve();
        if (count >= MOST_ENTRIES) await compact();
      } catch (error) {
        failure ??= error ?? new SvcError("STORE_FAILED");
        batch.done.reject(failure);
      }
    }
    isWriting = false;
  };

  await removeAll(leftovers);
  return {
    get: (name) => records.get(name),
    entries: (prefix) =>
      [...records].filter(([name]) => name.startsWith(prefix)).toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))),
    commit(changes) {
      // What comes while an entry is written becomes one entry: a commit waits for the disk twice at most.
      pending ??= { changes: new Map(), done: Promise.withResolvers() };
      for (const [name, value] of changes) pending.changes.set(name, value);
      const { promise } = pending.done;
      if (!isWriting) void write();
      return promise;
    },
    get failure() {
      return failure;
    },
  };
}

const numbered = (number: number): string => String(number).padStart(DIGITS, "0");
const logPrefix = (session: string, generation: number): string => `${session}/log/${numbered(generation)}/`;

function apply(records: Map<string, unknown>, changes: Changes): void {
  for (const [name, value] of changes) {
    if (value === undefined) records.delete(name);
    else records.set(name, value);
  }
}

const encoded = (changes: Changes): string => serialize(changes).toString("base64");

/** Throws STORE_FAILED. */
function decoded(text: string | undefined): Map<string, unknown> {
  const value: unknown = deserialize(Buffer.from(text ?? "", "base64"));
  if (value instanceof Map) return value as Map<string, unknown>;
  throw new SvcError("STORE_FAILED", "The linked session in the encrypted store is damaged.", {
    hint: "Restore a backup with svc restore, or link the account again: svc channels link provider_a",
  });
}

// The Signal keys of the linked session, for the library. It writes a step of a ratchet after the message that needs it was sent, and
// after a received one was confirmed; a kill in between breaks the chat. So its repository works on these keys directly: a step is on
// disk when `encryptMessage` or `decryptMessage` returns, one step at a time. A received message is on disk in the same commit as its
// step of the ratchet. What the platform delivers again, because a kill came before the confirmation, is recognised by its ciphertext
// and decrypted without another step.

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
  const oneAtATime = new Semaphore(1);
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
      // Not a queue by key: the library has several names for one session.
      return oneAtATime.run(run);
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
