/**
 * The acting calls of the last hour, agent by agent, and of each agent client by client. It outlives the policies, which every reload builds anew, and a
 * restart too: what the process before did stands in the journal. Else `max_actions_per_hour` would be a limit that
 * anybody lifts who can make the service reload.
 */
import type { ClientId, Clock } from "@svc/contract";

/** The part of the journal of tool calls that is read (`store.toolCalls`). */
export interface ActionJournal {
  /** When acting calls of this agent began, wall clock. `client`: only those that count against its limits. */
  actionsSince(agent: string, sinceMs: number, client?: ClientId): readonly number[];
}

/** What one agent did. */
export interface ActionHistory extends ActionCount {
  /** Counts one action now, of the agent and of this client. */
  add(client: ClientId): void;
  /** What this client had it do. */
  of(client: ClientId): ActionCount;
}

export interface ActionCount {
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
    if (!history) this.#byAgent.set(agent, (history = new AgentHistory(agent, this.#journal, this.#clock)));
    return history;
  }
}

/** Clients of an agent that are held in memory, beyond which those without an action in the last hour go. */
const CLIENTS = 1000;

class AgentHistory implements ActionHistory {
  readonly #all: SlidingHour;
  readonly #byClient = new Map<ClientId, SlidingHour>();
  readonly #open: (client?: ClientId) => SlidingHour;

  constructor(agent: string, journal: ActionJournal, clock: Pick<Clock, "now" | "monotonic">) {
    this.#open = (client) => new SlidingHour((sinceMs) => journal.actionsSince(agent, sinceMs, client), clock);
    this.#all = this.#open();
  }

  add(client: ClientId): void {
    this.#all.add();
    this.of(client).add();
  }

  count(): number {
    return this.#all.count();
  }

  waitMs(max: number): number {
    return this.#all.waitMs(max);
  }

  of(client: ClientId): SlidingHour {
    const known = this.#byClient.get(client);
    if (known) return known;
    if (this.#byClient.size >= CLIENTS) this.#dropIdle();
    const history = this.#open(client);
    this.#byClient.set(client, history);
    return history;
  }

  #dropIdle(): void {
    for (const [client, history] of this.#byClient) if (history.count() === 0) this.#byClient.delete(client);
  }
}

const HOUR_MS = 3_600_000;
/** The largest `max_actions_per_hour`: whatever is older than so many can decide nothing. */
const MOST = 1_000_000;

class SlidingHour implements ActionCount {
  readonly #actionsSince: (sinceMs: number) => readonly number[];
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  /** Monotonic, oldest first; those before `#first` are over. */
  #startedMs: number[] | undefined;
  #first = 0;

  constructor(actionsSince: (sinceMs: number) => readonly number[], clock: Pick<Clock, "now" | "monotonic">) {
    this.#actionsSince = actionsSince;
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
    const atMs = this.#actionsSince(nowMs - HOUR_MS);
    return atMs.map((at) => Math.min(at, nowMs) + offsetMs).sort((a, b) => a - b);
  }
}
