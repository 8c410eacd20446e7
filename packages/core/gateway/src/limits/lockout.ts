/**
 * Failures per client, and the time a client that failed too often has to wait. Keyed by the client alone, so nobody can
 * lock somebody else out; bounded, so nobody can fill the memory with made-up clients.
 */
import { keyLimit } from "./sliding-window.ts";

export interface LockoutOptions {
  /** Failures that lock a client out. */
  readonly maxFailures: number;
  /** Failures older than this count no more. */
  readonly windowMs: number;
  readonly lockoutMs: number;
  readonly maxKeys?: number;
}

interface Entry {
  readonly failures: number[];
  /** Monotonic end of the lockout; 0 when there is none. */
  lockedUntil: number;
}

export class Lockout {
  readonly #options: LockoutOptions;
  readonly #maxKeys: number;
  /** In order of activity, oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: LockoutOptions) {
    this.#options = options;
    this.#maxKeys = keyLimit(options.maxKeys ?? 0);
  }

  /** Milliseconds until `key` may try again; 0 when it may now. */
  waitMs(key: string, nowMs: number): number {
    if (this.#entries.size === 0) return 0;
    const until = this.#entries.get(key)?.lockedUntil ?? 0;
    return until > nowMs ? until - nowMs : 0;
  }

  /** Counts a failure; true when it is the one that locks `key` out. */
  fail(key: string, nowMs: number): boolean {
    const entry = this.#take(key);
    // A lockout that has run out leaves a clean slate: its failures were what it was for.
    if (entry.lockedUntil !== 0 && entry.lockedUntil <= nowMs) {
      entry.lockedUntil = 0;
      entry.failures.length = 0;
    }
    while (entry.failures[0] !== undefined && nowMs - entry.failures[0] >= this.#options.windowMs)
      entry.failures.shift();
    entry.failures.push(nowMs);
    if (entry.lockedUntil !== 0 || entry.failures.length < this.#options.maxFailures) return false;
    entry.lockedUntil = nowMs + this.#options.lockoutMs;
    return true;
  }

  /** Forgets the failures of a client that proved itself. */
  clear(key: string): void {
    this.#entries.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }

  #take(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) this.#entries.delete(key);
    else if (this.#entries.size >= this.#maxKeys) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    const entry = known ?? { failures: [], lockedUntil: 0 };
    this.#entries.set(key, entry);
    return entry;
  }
}
