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
