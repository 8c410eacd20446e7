/** What the platforms were asked to send, and what they did: noted where it happens, in the order in which it happens. */
import type { PlatformRequest } from "@svc/testkit/platforms/base";
import type { PlatformMood } from "@svc/testkit/platforms/mood";
import type { Provider, Sending } from "../providers/provider.ts";

/** `lost`: the platform did it, and its answer got lost. `failed`: it did nothing. */
export type Fate = "taken" | "lost" | "failed";

export interface Entry extends Sending {
  readonly channel: string;
  /** The life of the daemon that asked, from 1. */
  readonly life: number;
  readonly fate: Fate;
  readonly atMs: number;
}

export interface Noted {
  readonly entries: readonly Entry[];
}

export interface LedgerOptions {
  /** Whose life a port belongs to. */
  readonly lifeOf: (channel: string, port: number) => number;
  readonly onSending: () => void;
  /** Share of the requests that send nothing, from 0 to 1, that fail too. */
  readonly failingReads: number;
}

/** Share of sends that fail, unless the platforms are calm. */
const FAILING_SENDS = 0.1;
/** As often as it says. */
const FAILURES: readonly PlatformMood[] = [
  { refuses: 500 },
  { refuses: 500 },
  { rateLimits: 1 },
  "resets",
  "loses answers",
];

export class Ledger implements Noted {
  readonly entries: Entry[] = [];
  /** Everything is taken. */
  isCalm = true;
  readonly #options: LedgerOptions;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** From here on the platform's requests are noted, and fail as `random` says. */
  watch(provider: Provider, random: () => number): void {
    provider.platform.mood = (request) => {
      const sending = provider.sendingOf(request);
      const mood = this.#moodFor(random(), sending ? FAILING_SENDS : this.#options.failingReads);
      if (sending) {
        const life = this.#options.lifeOf(provider.channel, portOf(request));
        this.entries.push({ ...sending, channel: provider.channel, life, fate: fateOf(mood), atMs: performance.now() });
        this.#options.onSending();
      }
      return mood;
    };
  }

  #moodFor(chance: number, failing: number): PlatformMood {
    if (this.isCalm || chance >= failing) return "takes";
    return FAILURES[Math.floor((chance / failing) * FAILURES.length)]!;
  }
}

const fateOf = (mood: PlatformMood): Fate =>
  mood === "takes" ? "taken" : mood === "loses answers" ? "lost" : "failed";

const portOf = ({ headers }: PlatformRequest): number => Number(/:(\d+)$/.exec(headers["host"] ?? "")?.[1]);
