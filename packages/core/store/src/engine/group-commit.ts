/**
 * Durable writes without a timer: whatever was asked for in one turn of the event loop is the next transaction, one
 * fsync for all of it, and only then is everybody told. One row per transaction costs about 20 times as much.
 */
import type { DatabaseSync } from "node:sqlite";
import { isBusy, isDiskError, storeError } from "./sqlite-error.ts";

/** Rows beyond this wait for the next transaction, so that one commit never holds the loop for long. */
const MAX_BATCH = 64;

export interface CommitHooks {
  /** Before each transaction; if it throws, the transaction failed. */
  readonly beforeBegin?: () => void;
  /** Inside the transaction, after every change in it: for what is summed up instead of written each time. */
  readonly beforeCommit?: () => void;
  /** What the transaction did holds. Must not throw. */
  readonly afterCommit?: () => void;
  /** A transaction was undone: what was counted or summed up in it does not hold. */
  readonly onRollback?: () => void;
  /** The disk refused a write before this began. */
  readonly refused?: boolean;
  /** Asked when a change is asked for: W3C `traceparent` of what that is part of. */
  readonly traceparent?: (() => string | undefined) | undefined;
}

/** A class, as a link of a list is (`LinkedList`): an object literal would keep its turn in memory. */
class Job {
  readonly change: () => unknown;
  readonly traceparent: string | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;

  constructor(
    change: () => unknown,
    traceparent?: string,
    resolve: (value: unknown) => void = () => {},
    reject: (error: Error) => void = () => {},
  ) {
    this.change = change;
    this.traceparent = traceparent;
    this.resolve = resolve;
    this.reject = reject;
  }
}

export class GroupCommit {
  readonly #db: DatabaseSync;
  readonly #hooks: CommitHooks;
  #queue: Job[] = [];
  #scheduled = false;
  #traceparent: string | undefined;
  #writable: boolean;
  /** How long SQLite waits for another process's lock. It waits with the thread, and with it waits everybody. */
  readonly #patienceMs: number;
  #isPatient = true;

  constructor(db: DatabaseSync, hooks: CommitHooks = {}) {
    this.#db = db;
    this.#hooks = hooks;
    this.#writable = hooks.refused !== true;
    this.#patienceMs = (db.prepare("PRAGMA busy_timeout").get() as { timeout: number }).timeout;
  }

  /** Whether the last transaction could be written, as far as that was the disk's doing, or another process's. */
  get writable(): boolean {
    return this.#writable;
  }

  /** Of what the change that runs now is part of: others run in the same transaction. undefined: nobody traces. */
  get traceparent(): string | undefined {
    return this.#traceparent;
  }

  /**
   * Runs `change` inside the next transaction and resolves with its value once that is on disk. `change` must only
   * touch the database: it runs again, alone, when a neighbour in its batch failed. Rejects with STORE_*.
   */
  write<T>(change: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const traceparent = this.#hooks.traceparent?.();
      this.#queue.push(new Job(change, traceparent, resolve as (value: unknown) => void, reject));
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(this.#flush);
    });
  }

  /** Runs `change` in a transaction of its own before it returns. For what a reader has to find. Throws what failed. */
  runNow(change: () => void): void {
    this.#transaction([new Job(change)]);
  }

  /** Commits what is queued now. For shutdown. */
  flushNow(): void {
    while (this.#queue.length > 0) this.#commit(this.#queue.splice(0, MAX_BATCH));
  }

  readonly #flush = (): void => {
    const batch = this.#queue.length <= MAX_BATCH ? this.#queue : this.#queue.splice(0, MAX_BATCH);
    if (batch === this.#queue) this.#queue = [];
    this.#scheduled = this.#queue.length > 0;
    if (this.#scheduled) setImmediate(this.#flush);
    this.#commit(batch);
  };

  #commit(batch: readonly Job[]): void {
    let values: unknown[];
    try {
      values = this.#transaction(batch);
    } catch (error) {
      // One bad job, or a full disk: each job gets a transaction of its own, so that nobody pays for a neighbour. Of a lock
      // no job is the cause.
      if (batch.length === 1 || isBusy(error)) for (const job of batch) job.reject(storeError(error));
      else for (const job of batch) this.#commit([job]);
      return;
    }
    for (const [index, job] of batch.entries()) job.resolve(values[index]);
  }

  #transaction(batch: readonly Job[]): unknown[] {
    try {
      this.#hooks.beforeBegin?.();
      this.#db.exec("BEGIN IMMEDIATE");
      const values = batch.map((job) => {
        this.#traceparent = job.traceparent;
        return job.change();
      });
      this.#hooks.beforeCommit?.();
      this.#db.exec("COMMIT");
      this.#hooks.afterCommit?.();
      this.#writable = true;
      this.#wait(true);
      return values;
    } catch (error) {
      if (isDiskError(error) || isBusy(error)) this.#writable = false;
      // Once it was waited for in vain, it is only looked whether it is gone.
      if (isBusy(error)) this.#wait(false);
      // After a full disk SQLite may have rolled back already; a second ROLLBACK would hide the first error.
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      this.#hooks.onRollback?.();
      throw error;
    }
  }

  #wait(isPatient: boolean): void {
    if (isPatient === this.#isPatient) return;
    this.#isPatient = isPatient;
    this.#db.exec(`PRAGMA busy_timeout = ${isPatient ? this.#patienceMs : 0}`);
  }
}
