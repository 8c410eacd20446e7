/**
 * One SQLite file of sealed records. Each is encrypted with AES-256-GCM under a random nonce, and its place (the store and
 * the keyed hash of its key) is authenticated with it: no record opens in the place of another. A manifest, sealed like
 * the records, holds their number and the sum of a keyed hash of each, so that a removed, added or older record is noticed.
 * An older copy of the whole file can't be told from a restored backup.
 *
 *     record(store, id, sealed)   sealed: nonce (12 bytes), tag (16 bytes), ciphertext
 *     manifest(sealed)            one row
 */
import { SvcError } from "@svc/contract";
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";

export interface SealedFileOptions {
  /** Absolute. Its folder is made when it is missing. */
  readonly path: string;
  /** 32 random bytes that only this file is encrypted with. */
  readonly key: Uint8Array;
  /** Makes the file when it is missing. False: that is an error. */
  readonly create: boolean;
  /** How long a write waits for another process's lock, and the event loop with it. Default: 2000. */
  readonly lockWaitMs?: number;
}

export interface Change {
  readonly store: number;
  /** As `idOf` told. */
  readonly id: Buffer;
  /** Undefined removes the record. */
  readonly bytes: Buffer | undefined;
}

interface Manifest {
  readonly records: number;
  /** Modulo 2 ** 256. */
  readonly sum: bigint;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = NONCE_BYTES + TAG_BYTES;
const FORMAT = 1;
/** A backup that reads the file holds no lock that a write waits for. */
const LOCK_WAIT_MS = 2000;
const MODULUS = 1n << 256n;
const READ_AT_ONCE = 50;

export class SealedFile {
  /** Whether this call made the file. */
  readonly isNew: boolean;
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #keys: { readonly seal: KeyObject; readonly id: KeyObject; readonly sum: Buffer };
  readonly #read: StatementSync;
  readonly #tag: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #version: StatementSync;
  #manifest: Manifest = { records: 0, sum: 0n };
  #seenVersion: number;
  /** Once set, memory and disk may differ: nothing is read or written any more. */
  #failure: SvcError | undefined;
  #isAtomic = false;

  /** Throws SECRET_UNREADABLE for another key, STORE_FAILED when it is missing, damaged or altered, STORE_NEWER, STORE_FULL. */
  constructor({ path, key, create, lockWaitMs = LOCK_WAIT_MS }: SealedFileOptions) {
    if (key.byteLength !== KEY_BYTES) throw new TypeError(`The key has ${key.byteLength} bytes, not ${KEY_BYTES}.`);
    this.#path = path;
    this.#keys = { seal: derived(key, "seal"), id: derived(key, "id"), sum: derived(key, "sum").export() };
    try {
      this.#db = openSqlite(path, create, lockWaitMs);
    } catch (error) {
      throw storeError(error, path);
    }
    try {
      this.isNew = this.#begin(create);
      this.#read = this.#db.prepare("SELECT sealed FROM record WHERE store = ? AND id = ?");
      this.#tag = this.#db.prepare(`SELECT substr(sealed, ${NONCE_BYTES + 1}, ${TAG_BYTES}) AS tag FROM record
        WHERE store = ? AND id = ?`);
      this.#put = this.#db.prepare(`INSERT INTO record (store, id, sealed) VALUES (?, ?, ?)
        ON CONFLICT (store, id) DO UPDATE SET sealed = excluded.sealed`);
      this.#delete = this.#db.prepare("DELETE FROM record WHERE store = ? AND id = ?");
      this.#version = this.#db.prepare("PRAGMA data_version");
      this.#seenVersion = this.#dataVersion();
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /** 16 bytes that say nothing of the key to those who lack the file's key. */
  idOf(store: number, keyBytes: Buffer): Buffer {
    return createHmac("sha256", this.#keys.id).update(storeBytes(store)).update(keyBytes).digest().subarray(0, 16);
  }

  /**
   * Calls `take` with every record, those of store 0 first, then compares all of them with the manifest. Called once, before
   * anything else. Rejects with STORE_FAILED; what `take` was given must not be used then.
   */
  async readAll(take: (store: number, bytes: Buffer) => void): Promise<void> {
    let records = 0;
    let sum = 0n;
    try {
      // One snapshot, whatever another process does.
      this.#db.exec("BEGIN");
      for (const where of ["store = 0", "store > 0"]) {
        for (const row of this.#db.prepare(`SELECT store, id, sealed FROM record WHERE ${where}`).iterate()) {
          const { store, id, sealed } = row as { store: number; id: Uint8Array; sealed: Uint8Array };
          records += 1;
          sum += this.#digest(store, id, sealed.subarray(NONCE_BYTES, HEAD_BYTES));
          take(store, this.#open(sealed, placeOf(store, id)));
          // Thousands of sessions take most of a second: others have their turn meanwhile.
          if (records % READ_AT_ONCE === 0) await setImmediate();
        }
      }
      const row = this.#db.prepare("SELECT sealed FROM manifest").get() as { sealed: Uint8Array } | undefined;
      const manifest = row && parsedManifest(this.#open(row.sealed, MANIFEST));
      if (!manifest || manifest.records !== records || manifest.sum !== sum % MODULUS) throw altered(this.#path);
      this.#manifest = manifest;
      this.#seenVersion = this.#dataVersion();
      this.#db.exec("COMMIT");
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      this.#failure = error instanceof SvcError ? error : damagedBy(error, this.#path);
      throw this.#failure;
    }
  }

  /** Throws STORE_FAILED, from then on for every call. */
  read(store: number, id: Buffer): Buffer {
    if (this.#failure) throw this.#failure;
    try {
      const row = this.#read.get(store, id) as { sealed: Uint8Array } | undefined;
      if (!row) throw altered(this.#path);
      return this.#open(row.sealed, placeOf(store, id));
    } catch (error) {
      throw this.fail(error);
    }
  }

  /**
   * What `work` commits gets to the disk in one transaction once it has resolved, and not at all when it rejects or the process is
   * killed before. One at a time. Rejects as `work`, and with STORE_FULL or STORE_FAILED. When `work` has rejected, memory is ahead of
   * the disk: every later call fails too.
   */
  async atomically<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failure) throw this.#failure;
    if (this.#isAtomic) throw new TypeError("The crypto store is in a transaction already.");
    try {
      this.#beginTransaction();
    } catch (error) {
      this.#rollBack();
      throw storeError(error, this.#path);
    }
    this.#isAtomic = true;
    try {
      const result = await work();
      if (this.#failure) throw this.#failure;
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      const isOfStore = error instanceof SvcError || isOfSqlite(error);
      const failure = this.fail(isOfStore ? storeError(error, this.#path) : givenUp(this.#path, error));
      throw isOfStore ? failure : error;
    } finally {
      this.#isAtomic = false;
    }
  }

  /**
   * All of it is on disk when this returns, or with what it is part of (`atomically`); nothing of it when it throws STORE_FULL or
   * STORE_FAILED. `dropped`: stores that go with all their records.
   */
  commit(changes: readonly Change[], dropped: readonly number[]): void {
    if (this.#failure) throw this.#failure;
    try {
      if (!this.#isAtomic) this.#beginTransaction();
      let { records, sum } = this.#manifest;
      const remove = (store: number, id: Uint8Array): void => {
        const tag = (this.#tag.get(store, id) as { tag: Uint8Array } | undefined)?.tag;
        if (!tag) return;
        records -= 1;
        sum += MODULUS - this.#digest(store, id, tag);
      };
      for (const store of dropped) {
        for (const { id } of this.#db.prepare("SELECT id FROM record WHERE store = ?").all(store)) {
          remove(store, id as Uint8Array);
        }
        this.#db.prepare("DELETE FROM record WHERE store = ?").run(store);
      }
      for (const { store, id, bytes } of changes) {
        remove(store, id);
        if (!bytes) this.#delete.run(store, id);
        else {
          const sealed = this.#seal(bytes, placeOf(store, id));
          this.#put.run(store, id, sealed);
          records += 1;
          sum += this.#digest(store, id, sealed.subarray(NONCE_BYTES, HEAD_BYTES));
        }
      }
      const manifest = { records, sum: sum % MODULUS };
      this.#db.prepare("UPDATE manifest SET sealed = ?").run(this.#sealedManifest(manifest));
      if (!this.#isAtomic) this.#db.exec("COMMIT");
      this.#manifest = manifest;
    } catch (error) {
      this.#rollBack();
      const failure = storeError(error, this.#path);
      // All that the transaction had before is gone with it.
      throw this.#isAtomic ? this.fail(failure) : failure;
    }
  }

  /** Why nothing is read or written any more. */
  get failure(): SvcError | undefined {
    return this.#failure;
  }

  /** Nothing is read or written from here on. Returns the first failure of all. */
  fail(error: unknown): SvcError {
    this.#failure ??= error instanceof SvcError ? error : damagedBy(error, this.#path);
    return this.#failure;
  }

  /** Idempotent. */
  close(): void {
    this.#failure ??= new SvcError("STORE_FAILED", "The crypto store was closed.");
    if (this.#db.isOpen) this.#db.close();
  }

  /** Throws STORE_FAILED once another process has written: what is in memory here would be wrong from then on. */
  #beginTransaction(): void {
    this.#db.exec("BEGIN IMMEDIATE");
    if (this.#dataVersion() !== this.#seenVersion) throw this.fail(usedByAnother(this.#path));
  }

  #rollBack(): void {
    // After a full disk SQLite may have rolled back already.
    if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec("ROLLBACK");
  }

  /** Whether the file was made now. */
  #begin(create: boolean): boolean {
    const version = Object.values(this.#db.prepare("PRAGMA user_version").get() ?? {})[0];
    if (typeof version === "number" && version > FORMAT) throw new SvcError("STORE_NEWER");
    if (version === FORMAT) {
      const row = this.#db.prepare("SELECT sealed FROM manifest").get() as { sealed: Uint8Array } | undefined;
      if (!row) throw altered(this.#path);
      try {
        this.#open(row.sealed, MANIFEST);
      } catch (cause) {
        throw otherKey(this.#path, cause);
      }
      return false;
    }
    // A process may have been killed between the file and its first transaction.
    if (this.#db.prepare("SELECT 1 FROM sqlite_schema").get()) throw altered(this.#path);
    if (!create) throw missing(this.#path);
    this.#db.exec(`BEGIN IMMEDIATE;
      CREATE TABLE record (n INTEGER PRIMARY KEY, store INTEGER NOT NULL, id BLOB NOT NULL, sealed BLOB NOT NULL,
        UNIQUE (store, id)) STRICT;
      CREATE TABLE manifest (sealed BLOB NOT NULL) STRICT;`);
    this.#db.prepare("INSERT INTO manifest VALUES (?)").run(this.#sealedManifest(this.#manifest));
    this.#db.exec(`PRAGMA user_version = ${FORMAT}; COMMIT`);
    return true;
  }

  #dataVersion(): number {
    return (this.#version.get() as { data_version: number }).data_version;
  }

  #sealedManifest({ records, sum }: Manifest): Buffer {
    return this.#seal(Buffer.from(JSON.stringify({ records, sum: sum.toString(16) })), MANIFEST);
  }

  #digest(store: number, id: Uint8Array, tag: Uint8Array): bigint {
    // One call without an object: thousands at a start. All have one length, so that a hash with the key before is keyed.
    const hex = hash("sha256", Buffer.concat([this.#keys.sum, placeOf(store, id), tag]), "hex");
    return BigInt(`0x${hex}`);
  }

  #seal(bytes: Uint8Array, place: Buffer): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#keys.seal, nonce).setAAD(place);
    const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
  }

  /** Throws for what was altered, is in another place, or was sealed with another key. */
  #open(sealed: Uint8Array, place: Buffer): Buffer {
    const options = { authTagLength: TAG_BYTES };
    const cipher = createDecipheriv("aes-256-gcm", this.#keys.seal, sealed.subarray(0, NONCE_BYTES), options);
    cipher.setAAD(place).setAuthTag(sealed.subarray(NONCE_BYTES, HEAD_BYTES));
    const bytes = cipher.update(sealed.subarray(HEAD_BYTES));
    cipher.final();
    return bytes;
  }
}

const derived = (key: Uint8Array, use: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync("sha256", key, "", `svc crypto store ${FORMAT} ${use}`, KEY_BYTES)));

const MANIFEST = Buffer.from("manifest");

function storeBytes(store: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(store));
  return bytes;
}

const placeOf = (store: number, id: Uint8Array): Buffer => Buffer.concat([storeBytes(store), id]);

function parsedManifest(bytes: Buffer): Manifest {
  const { records, sum } = JSON.parse(bytes.toString()) as { records: number; sum: string };
  return { records, sum: BigInt(`0x${sum}`) };
}

// Opening the crypto store's SQLite file, and what can be wrong with it.

/** Made when it is missing and `create`, for its owner alone. Throws STORE_FAILED when missing, else errors of SQLite and node:fs. */
function openSqlite(path: string, create: boolean, timeout: number): DatabaseSync {
  if (!existsSync(path)) {
    if (!create) throw missing(path);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite would make it open to others, and gives its log the mode of the file.
    closeSync(openSync(path, "wx", 0o600));
    syncFolder(dirname(path));
  }
  chmodSync(path, 0o600);
  const db = new DatabaseSync(path, { timeout, defensive: true });
  try {
    // FULL: a commit that was reported survives a power cut. cache_size is in KiB when negative.
    db.exec(`PRAGMA trusted_schema = OFF; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      PRAGMA cache_size = -1024; PRAGMA journal_size_limit = 4194304`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const SQLITE_FULL = 13;

/** Errors of SQLite (https://sqlite.org/rescode.html) and of the file system. */
function storeError(cause: unknown, path: string): SvcError {
  if (cause instanceof SvcError) return cause;
  const { errcode, code } = cause as { errcode?: number; code?: string };
  if ((errcode ?? 0) % 256 === SQLITE_FULL || code === "ENOSPC") {
    return new SvcError("STORE_FULL", undefined, {
      cause,
      hint: "Free some space on the disk that holds the home folder.",
    });
  }
  return damagedBy(cause, path);
}

const isOfSqlite = (error: unknown): boolean => (error as { errcode?: unknown } | null)?.errcode !== undefined;

/** SQLITE_CORRUPT, SQLITE_NOTADB, and SQLITE_ERROR for a table that is not there. */
const DAMAGED: ReadonlySet<number> = new Set([1, 11, 26]);

/** The message of an error of SQLite may quote data; `errstr` is a fixed text. What comes of neither disk nor SQLite is damage. */
function damagedBy(cause: unknown, path: string): SvcError {
  const { errcode, errstr, syscall } = cause as { errcode?: number; errstr?: string; syscall?: string };
  if (errcode === undefined ? syscall === undefined : DAMAGED.has(errcode % 256)) return altered(path, cause);
  const why = errstr ?? (cause as { code?: unknown }).code;
  return new SvcError("STORE_FAILED", `The crypto store ${path} can't be used: ${String(why)}.`, {
    cause,
    hint: "Look at the disk and the permissions of this file.",
  });
}

const RESTORE = "Restore a backup with svc restore, or set the channel up anew: svc channels setup federated.";

const missing = (path: string): SvcError =>
  new SvcError("STORE_FAILED", `The crypto store ${path} is missing.`, { hint: RESTORE });

const altered = (path: string, cause?: unknown): SvcError =>
  new SvcError("STORE_FAILED", `The crypto store ${path} is damaged, or was altered.`, { cause, hint: RESTORE });

const otherKey = (path: string, cause: unknown): SvcError =>
  new SvcError("SECRET_UNREADABLE", `The crypto store ${path} can't be opened with this home's key.`, {
    cause,
    hint: RESTORE,
  });

const givenUp = (path: string, cause: unknown): SvcError =>
  new SvcError("STORE_FAILED", `A change of the crypto store ${path} was given up half-way, and undone.`, { cause });

const usedByAnother = (path: string): SvcError =>
  new SvcError("STORE_FAILED", `Another process has written to the crypto store ${path}.`, {
    hint: "Stop the other process, then: svc restart",
  });
