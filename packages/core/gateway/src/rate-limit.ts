/**
 * Limits of what clients can cause, all bounded in memory: a sliding window per client, a lockout after too many failures, and log lines
 * per minute.
 */
import type { Clock } from "@svc/contract";

/**
 * An exact sliding window per key: every admitted event is remembered until it is a window old, so no burst fits across
 * the edge of a fixed window. Refused events take no slot. Keys are bounded; the least recently active goes first.
 */
export interface SlidingWindowOptions {
  /** Events admitted per window and key; 0 admits everything and remembers nothing. */
  readonly limit: number;
  readonly windowMs: number;
  /** Most keys remembered; 0 means the default. */
  readonly maxKeys: number;
}

export const DEFAULT_MAX_KEYS = 10_000;

export const keyLimit = (configured: number): number => (configured > 0 ? configured : DEFAULT_MAX_KEYS);

export class SlidingWindow {
  readonly #windowMs: number;
  #limit = 0;
  #maxKeys = 0;
  /** In order of activity, oldest first. */
  readonly #slots = new Map<string, Slots>();

  constructor(options: SlidingWindowOptions) {
    this.#windowMs = options.windowMs;
    this.configure(options);
  }

  /** From here on these hold; the slots that are taken stay taken. */
  configure({ limit, maxKeys }: Pick<SlidingWindowOptions, "limit" | "maxKeys">): void {
    this.#limit = limit;
    this.#maxKeys = keyLimit(maxKeys);
    if (limit === 0) this.#slots.clear();
    for (const oldest of this.#slots.keys()) {
      if (this.#slots.size <= this.#maxKeys) break;
      this.#slots.delete(oldest);
    }
  }

  /** Takes a slot at `atMs` (monotonic). 0: admitted. Else the milliseconds until a slot is free. */
  take(key: string, atMs: number): number {
    if (this.#limit === 0) return 0;
    const slots = this.#active(key);
    slots.dropUntil(atMs - this.#windowMs);
    // Of the newest `limit`, the oldest: a limit that was lowered leaves more slots taken than there are.
    if (slots.length >= this.#limit) return Math.max(1, slots.at(-this.#limit) + this.#windowMs - atMs);
    slots.push(atMs);
    return 0;
  }

  /** Keys remembered, least recently active first. */
  keys(): string[] {
    return [...this.#slots.keys()];
  }

  #active(key: string): Slots {
    let slots = this.#slots.get(key);
    if (slots) {
      this.#slots.delete(key);
    } else {
      slots = new Slots();
      if (this.#slots.size >= this.#maxKeys)
        for (const oldest of this.#slots.keys()) {
          this.#slots.delete(oldest);
          break;
        }
    }
    this.#slots.set(key, slots);
    return slots;
  }
}

/** Times in order. A plain array with a moving head: dropping from the front costs nothing until half is dead. */
class Slots {
  #times: number[] = [];
  #head = 0;

  get length(): number {
    return this.#times.length - this.#head;
  }

  get oldest(): number {
    return this.#times[this.#head] ?? 0;
  }

  at(index: number): number {
    return this.#times.at(index) ?? 0;
  }

  push(atMs: number): void {
    this.#times.push(atMs);
  }

  dropUntil(atMs: number): void {
    while (this.#head < this.#times.length && this.oldest <= atMs) this.#head += 1;
    if (this.#head > 16 && this.#head * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#head);
      this.#head = 0;
    }
  }
}

// Failures per client, and the time a client that failed too often has to wait. Keyed by the client alone, so that one
// client can't lock another out; bounded, so that made-up clients can't fill the memory.

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
  /** Monotonic end of the lockout; 0 without one. */
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

  /** Counts a failure; true when it locks `key` out. */
  fail(key: string, nowMs: number): boolean {
    const entry = this.#take(key);
    // An expired lockout resets the count: its failures are punished already.
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

const EVERY_MS = 60_000;

/** Log lines that clients can cause: at most one a minute per subject, so that no client can fill the disk. */
export class ThrottledLog {
  readonly #clock: Clock;
  readonly #said = new Map<string, { atMs: number; times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that it happened, `times` over. How often since the last line when one is due, else 0. */
  note(subject = "", times = 1): number {
    const nowMs = this.#clock.monotonic();
    let said = this.#said.get(subject);
    if (said === undefined) this.#said.set(subject, (said = { atMs: -Infinity, times: 0 }));
    said.times += times;
    if (nowMs - said.atMs < EVERY_MS) return 0;
    const sum = said.times;
    said.atMs = nowMs;
    said.times = 0;
    return sum;
  }
}
