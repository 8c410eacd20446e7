/**
 * Layer 4, the watchdog: a movement ends after its time, and when this process was late or its time jumped. What it can't see, its own
 * death, the board sees: each command has a time to live, which ends before the robot could reach the minimum.
 */
import type { Clock } from "@svc/contract";
import type { StopCause } from "./causes.ts";
import type { Limits } from "./config.ts";

/** Longest life of a command; the board stops by itself then. */
const LONGEST_TTL_MS = 500;
const SHORTEST_TTL_MS = 150;
/** How long a command may take to the board. */
export const COMMAND_MS = 200;
/** Between two looks at a movement. The board would stop soon after. */
const LATE_MS = 400;
const JUMP_MS = 1000;

export class Watchdog {
  readonly #clock: Clock;
  #endMs = 0;
  #lastMs = 0;
  #wallOffset = 0;
  #seconds = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin({ maxDriveMs }: Pick<Limits, "maxDriveMs">): void {
    const now = this.#clock.monotonic();
    this.#seconds = maxDriveMs / 1000;
    this.#endMs = now + maxDriveMs;
    this.#lastMs = now;
    this.#wallOffset = this.#clock.now() - now;
  }

  /** In each control period of a movement. */
  check(): StopCause | undefined {
    const now = this.#clock.monotonic();
    const late = now - this.#lastMs;
    this.#lastMs = now;
    if (late > LATE_MS) {
      return { reason: "late", layer: 4, message: `The monitor was held up for ${Math.round(late)} ms.` };
    }
    const jump = Math.abs(this.#clock.now() - now - this.#wallOffset);
    if (jump > JUMP_MS) {
      return { reason: "time_jump", layer: 4, message: `The clock jumped by ${Math.round(jump / 1000)} s.` };
    }
    if (now < this.#endMs) return undefined;
    return { reason: "time_limit", layer: 4, message: `The movement took ${this.#seconds} s, the longest allowed.` };
  }
}

/** A speed, at most `speed`, and a life for the command, so that the robot stops in time even where no other command reaches it. */
export function keepAlive(speed: number, free: number): { readonly speed: number; readonly ttlMs: number } {
  const slowest = (SHORTEST_TTL_MS + COMMAND_MS) / 1000;
  const safe = Math.min(speed, Math.max(0, free) / slowest);
  const lifeMs = safe === 0 ? 0 : (free / safe) * 1000 - COMMAND_MS;
  return { speed: safe, ttlMs: Math.round(Math.min(LONGEST_TTL_MS, Math.max(SHORTEST_TTL_MS, lifeMs))) };
}
