/** What the everyday platforms were asked to show, and what they did: noted where it happens, in the order in which it happens. */
import type { EverydayPlatform } from "@svc/testkit/platforms/everyday";
import type { PlatformMood } from "@svc/testkit/platforms/mood";
import type { Fate } from "../fixture/ledger.ts";
import { sleep } from "../fixture/sleep.ts";
import { type Asking, ASKING, type EverydayChannel, isOfHistory } from "./asking.ts";

export interface Asked extends Asking {
  readonly channel: EverydayChannel;
  /** The life of the daemon that asked, from 1. */
  readonly life: number;
  readonly fate: Fate;
}

export interface EverydayLedgerOptions {
  /** The daemon's life of now: a start takes longer than what the last one wrote is on its way. */
  readonly life: () => number;
  readonly onAsked: (kind: "post" | "edit" | "poll") => void;
  /** Share of all other requests, from 0 to 1, that fail too. */
  readonly failingReads: number;
}

/** Share of posts and edits that fail, unless the platforms are calm. */
const FAILING = 0.1;
/** Share of them that take a moment. */
const SLOW = 0.2;
const SLOW_MS = 40;
/** As often as it says. */
const FAILURES: readonly PlatformMood[] = [
  { refuses: 500 },
  { refuses: 503 },
  { rateLimits: 1 },
  { rateLimits: 1 },
  "resets",
  "loses answers",
];

export class EverydayLedger {
  readonly asked: Asked[] = [];
  /** Requests of the others that failed. */
  failedReads = 0;
  /** Everything is taken. */
  isCalm = true;
  readonly #options: EverydayLedgerOptions;

  constructor(options: EverydayLedgerOptions) {
    this.#options = options;
  }

  /** From here on the platform's requests are noted, and fail as `random` says. */
  watch({ id, fake }: EverydayPlatform, random: () => number): void {
    const channel = id as EverydayChannel;
    fake.mood = (request) => {
      const asking = ASKING[channel](request);
      const isSafe = !asking && isOfHistory(request);
      const mood = this.#moodFor(random(), asking ? FAILING : isSafe ? 0 : this.#options.failingReads);
      if (asking)
        this.asked.push({
          ...asking,
          channel,
          life: this.#options.life(),
          fate: fateOf(mood),
        });
      else if (fateOf(mood) !== "taken") this.failedReads += 1;
      if (asking || request.path.endsWith("/getUpdates")) this.#options.onAsked(asking?.kind ?? "poll");
      return mood;
    };
  }

  #moodFor(chance: number, failing: number): PlatformMood {
    if (this.isCalm) return "takes";
    if (chance < failing) return FAILURES[Math.floor((chance / failing) * FAILURES.length)]!;
    return chance > 1 - SLOW ? { slow: () => sleep(SLOW_MS) } : "takes";
  }
}

function fateOf(mood: PlatformMood): Fate {
  if (mood === "loses answers") return "lost";
  return mood === "takes" || (typeof mood === "object" && "slow" in mood) ? "taken" : "failed";
}
