/** Pairing codes: six digits, one use, ten minutes, burnt by thirty wrong tries. Held in memory only. */
import { randomInt, timingSafeEqual } from "node:crypto";
import type { Scope } from "@svc/store";

export interface PairingCode {
  readonly code: string;
  readonly scope: Scope;
  /** Name the operator gave the device in advance. */
  readonly name: string | undefined;
  /** Monotonic milliseconds. */
  readonly expiresAtMs: number;
}

export const CODE_TTL_MS = 600_000;
const MAX_WRONG_TRIES = 30;
/** Every live code is one more that a guess can hit: with eight, thirty guesses hit one in 4200 times. */
export const MAX_LIVE_CODES = 8;

interface Live extends PairingCode {
  wrongTries: number;
}

export class PairingCodes {
  #live: Live[] = [];

  /** A new code. Several may be live; beyond `MAX_LIVE_CODES` the oldest stops working. */
  issue(scope: Scope, name: string | undefined, nowMs: number): PairingCode {
    this.#dropExpired(nowMs);
    if (this.#live.length >= MAX_LIVE_CODES) this.#live.shift();
    let code: string;
    do code = String(randomInt(1_000_000)).padStart(6, "0");
    while (this.#live.some((live) => live.code === code));
    const issued = { code, scope, name, expiresAtMs: nowMs + CODE_TTL_MS, wrongTries: 0 };
    this.#live.push(issued);
    return issued;
  }

  /** How many could be guessed now. */
  live(nowMs: number): number {
    this.#dropExpired(nowMs);
    return this.#live.length;
  }

  /**
   * Uses a code up. A wrong one counts against every live code; `burnt` is how many that ended. What is not six digits
   * can't be a guess and burns nothing: a scanner must not be able to take the code away from its owner.
   */
  take(presented: string, nowMs: number): { found: PairingCode | undefined; burnt: number } {
    this.#dropExpired(nowMs);
    if (!/^\d{6}$/.test(presented)) return { found: undefined, burnt: 0 };
    const guess = Buffer.from(presented, "latin1");
    let found: Live | undefined;
    for (const live of this.#live) {
      // All are compared, each in constant time: how long a wrong try takes says nothing about how near it was.
      if (timingSafeEqual(guess, Buffer.from(live.code, "latin1"))) found = live;
    }
    if (found) {
      this.#live = this.#live.filter((live) => live !== found);
      return { found, burnt: 0 };
    }
    const before = this.#live.length;
    for (const live of this.#live) live.wrongTries += 1;
    this.#live = this.#live.filter((live) => live.wrongTries < MAX_WRONG_TRIES);
    return { found: undefined, burnt: before - this.#live.length };
  }

  /** Puts a code back that was taken but could not be turned into a device, with the tries it had. */
  giveBack(code: PairingCode, nowMs: number): void {
    if (code.expiresAtMs > nowMs) this.#live.push(code as Live);
  }

  #dropExpired(nowMs: number): void {
    this.#live = this.#live.filter((live) => live.expiresAtMs > nowMs);
  }
}
