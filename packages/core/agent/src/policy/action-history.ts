/**
 * The acting calls of the last hour, agent by agent. It outlives the policies, which every reload builds anew, and a
 * restart too: what the process before did stands in the journal. Else `max_actions_per_hour` would be a limit that
 * anybody lifts who can make the service reload.
 */
import type { Clock } from "@svc/contract";

/** The part of the journal of tool calls that is read (`store.toolCalls`). */
export interface ActionJournal {
  /** When acting calls of this agent began, wall clock. */
  actionsSince(agent: string, sinceMs: number): readonly number[];
}

export interface ActionHistory {
  /** Counts one action now. */
  add(): void;
  /** Acting calls within the last hour. */
  count(): number;
  /** Milliseconds until at most `max - 1` of them are left; 0: it is so now. */
  waitMs(max: number): number;
}

export class ActionHistories {
  readonly #journal: ActionJournal;
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #byAgent = new Map<string, ActionHistory>();

  constructor(journal: ActionJournal, clock: Pick<Clock, "now" | "monotonic">) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** The same one for every policy of this agent. */
  of(agent: string): ActionHistory {
    let history = this.#byAgent.get(agent);
    if (!history) this.#byAgent.set(agent, (history = new SlidingHour(agent, this.#journal, this.#clock)));
    return history;
  }
}

const HOUR_MS = 3_600_000;
/** The largest `max_actions_per_hour`: whatever is older than so many can decide nothing. */
const MOST = 1_000_000;

class SlidingHour implements ActionHistory {
  readonly #agent: string;
  readonly #journal: ActionJournal;
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  /** Monotonic, oldest first; those before `#first` are over. */
  #startedMs: number[] | undefined;
  #first = 0;

  constructor(agent: string, journal: ActionJournal, clock: Pick<Clock, "now" | "monotonic">) {
    this.#agent = agent;
    this.#journal = journal;
    this.#clock = clock;
  }

  add(): void {
    this.#current().push(this.#clock.monotonic());
  }

  count(): number {
    return this.#current().length - this.#first;
  }

  waitMs(max: number): number {
    const started = this.#current();
    const leaving = started[started.length - max];
    return leaving === undefined || started.length - this.#first < max
      ? 0
      : leaving + HOUR_MS - this.#clock.monotonic();
  }

  #current(): number[] {
    const started = (this.#startedMs ??= this.#read());
    const sinceMs = this.#clock.monotonic() - HOUR_MS;
    this.#first = Math.max(this.#first, started.length - MOST);
    while (this.#first < started.length && started[this.#first]! <= sinceMs) this.#first += 1;
    if (this.#first > 1000 && this.#first * 2 > started.length) {
      started.splice(0, this.#first);
      this.#first = 0;
    }
    return started;
  }

  /**
   * Read at the first use, which comes before the first call of this process is in the journal. A time that is still to
   * come was written before the clock was set back; it counts as now, since its real age is not known.
   */
  #read(): number[] {
    const nowMs = this.#clock.now();
    const offsetMs = this.#clock.monotonic() - nowMs;
    const atMs = this.#journal.actionsSince(this.#agent, nowMs - HOUR_MS);
    return atMs.map((at) => Math.min(at, nowMs) + offsetMs).sort((a, b) => a - b);
  }
}
