/** The child agents of this svc: how many there may be, what they end with, and what is left of those before a restart. */
import { randomBytes } from "node:crypto";
import { type AgentRights, type ClientId, SvcError } from "@svc/contract";
import { bothOf, type Budget, excessOf, leftOf, NOTHING_SPENT } from "./budget.ts";
import { ChildAgent, type ChildDeps } from "./child.ts";
import { Keeper, killMarked, markedProcesses } from "./keeper.ts";
import { type AgentEvent, type AgentRecord, EVENTS_ROW, eventsIn, OWN, recordIn, ROW, spentOf } from "./record.ts";

const MAX_ROWS = 200;
const MAX_TITLE_CHARS = 80;
const TICK_MS = 1000;
/** A day: a wait that only an event, the end or the caller ends. */
const NO_LIMIT_MS = 86_400_000;

export type PoolDeps = Omit<ChildDeps, "keeper" | "onChange" | "onNext" | "onSpent" | "onTurnEnd" | "onEnd">;

export interface NewAgent {
  readonly prompt: string;
  readonly title?: string | undefined;
  /** Default: svc's own agent. */
  readonly program?: string | undefined;
  readonly rights: AgentRights;
  readonly owner: ClientId;
  /** Turn whose end ends it too. */
  readonly endsWith: string | undefined;
  /** Turn, or child agent, that makes it. */
  readonly madeBy: string | undefined;
  /** Less than the config and its maker allow it anyway. */
  readonly budget?: Budget | undefined;
}

export class AgentPool {
  readonly #deps: PoolDeps;
  readonly #keeper: Keeper;
  readonly #children = new Map<string, ChildAgent>();
  readonly #watchers = new Set<() => void>();
  #loading: Promise<void> | undefined;
  #isStopped = false;
  #isRunning = false;
  #isCounting = false;
  #starting = 0;

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.#keeper = new Keeper(deps);
  }

  /** Child agents can be made. */
  get isRunning(): boolean {
    return this.#isRunning && !this.#isStopped;
  }

  /** Reads the rows of earlier processes, once: what ran there does not run any more. Rejects with STORE_*. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const { state, log } = this.#deps;
    const { mark, homeMark } = this.#keeper;
    const killed = await killMarked(homeMark, (other) => other.startsWith(mark));
    if (killed > 0) log.warn("killed processes of child agents of an earlier process", { processes: killed });
    const rows: AgentRecord[] = [];
    for (const name of await state.list(ROW)) {
      const text = await state.get(name);
      const record = text === undefined ? undefined : recordIn(text);
      if (record) rows.push(record);
    }
    for (const record of rows.toSorted((a, b) => a.createdAt - b.createdAt)) {
      const events = eventsIn((await state.get(`${EVENTS_ROW}${record.id}`)) ?? "[]");
      const child = this.#childOf(record, events);
      this.#children.set(record.id, child);
      if (child.isWorking) await child.end("error", "svc ended while it ran");
      else await child.end("closed", "svc was restarted");
    }
    await this.#prune();
  }

  /** Watches until the signal is aborted, then ends all of them. */
  async run(signal: AbortSignal): Promise<void> {
    const stopTurns = this.#deps.agents.onTurnEnd((turnId) => void this.#endTurn(turnId));
    try {
      await this.load();
      this.#isRunning = true;
      while (!signal.aborted) {
        await this.#deps.clock.sleep(TICK_MS, signal).catch(() => undefined);
        if (signal.aborted) break;
        for (const child of this.#children.values()) child.check();
        void this.#checkProcesses();
      }
    } finally {
      stopTurns();
      await this.stop();
    }
  }

  /** Ends all. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const alive = [...this.#children.values()].filter((child) => child.hasProcess);
    await Promise.all(alive.map((child) => child.end("closed", "svc stopped")));
    this.#keeper.end();
    this.#wake();
  }

  /** Throws CHILD_AGENT_LIMIT, CHILD_AGENT_BUDGET, AGENT_UNKNOWN, TOOL_BAD_INPUT, STORE_*. */
  async create(asked: NewAgent): Promise<AgentRecord> {
    const { clock } = this.#deps;
    const program = asked.program ?? OWN;
    const maker = asked.madeBy === undefined ? undefined : this.#children.get(asked.madeBy);
    const depth = (maker?.record.depth ?? 0) + 1;
    this.#checkLimits(program, depth);
    const budget = this.#budgetOf(asked, maker);
    const child = this.#childOf({
      version: 1,
      id: `ag-${randomBytes(6).toString("hex")}`,
      title: titleOf(asked.title ?? asked.prompt),
      program,
      parent: maker?.record.id,
      endsWith: asked.endsWith,
      depth,
      rights: asked.rights,
      owner: asked.owner,
      createdAt: clock.now(),
      status: "initializing",
      reason: undefined,
      code: undefined,
      budget,
      pid: undefined,
      lastEventAt: clock.now(),
      prompts: 0,
      result: undefined,
      isResultCut: false,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: program === OWN ? 0 : undefined,
      actions: 0,
      spentBelow: NOTHING_SPENT,
    });
    this.#starting += 1;
    try {
      await child.create(asked.prompt);
      this.#children.set(child.record.id, child);
    } finally {
      this.#starting -= 1;
    }
    // While its row was written svc was stopped, or its maker ended.
    if (this.#isStopped) await child.end("closed", "svc stopped");
    else if (maker && maker.record.id === asked.endsWith && !maker.isWorking) {
      await child.end("closed", "the child agent that made it is over");
    }
    return child.record;
  }

  /** The budget within the config, the request and the rest of the maker's budget. Throws CHILD_AGENT_BUDGET. */
  #budgetOf({ budget = {} }: NewAgent, maker: ChildAgent | undefined): Budget {
    const { max_cost_usd: costUsd, max_tokens: tokens, max_actions: actions } = this.#deps.config;
    const allowed = bothOf({ costUsd, tokens, actions }, budget);
    if (!maker) return allowed;
    const { record } = maker;
    const excess = excessOf(record.budget, spentOf(record), "model");
    if (excess) throw new SvcError("CHILD_AGENT_BUDGET", `Its maker's budget is used up: ${excess}.`);
    return bothOf(allowed, leftOf(record.budget, spentOf(record)));
  }

  /** Whatever a child agent spends, those that made it have spent too. */
  #makersOf({ record }: ChildAgent): ChildAgent[] {
    const maker = record.parent === undefined ? undefined : this.#children.get(record.parent);
    return maker ? [maker, ...this.#makersOf(maker)] : [];
  }

  #checkLimits(program: string, depth: number): void {
    const { config } = this.#deps;
    if (!this.isRunning) {
      throw new SvcError("CHILD_AGENT_LIMIT", "Only a running service starts child agents.", { hint: "svc start" });
    }
    if (program !== OWN && config.programs[program] === undefined) {
      const known = [OWN, ...Object.keys(config.programs)].join(", ");
      throw new SvcError("TOOL_BAD_INPUT", `There is no such program. Known: ${known}.`, {
        hint: "See [agents_pool.programs] in config.toml.",
      });
    }
    if (depth > config.max_depth) {
      throw new SvcError("CHILD_AGENT_LIMIT", "Child agents may not be made this deep.", {
        hint: "Do the work yourself, or raise agents_pool.max_depth.",
      });
    }
    const alive = [...this.#children.values()].filter((child) => child.hasProcess).length;
    if (alive + this.#starting >= config.max_agents) {
      throw new SvcError("CHILD_AGENT_LIMIT", undefined, {
        hint: "Close one that is idle (svc agents stop <id>), or raise agents_pool.max_agents.",
      });
    }
  }

  list(): ChildAgent[] {
    return [...this.#children.values()];
  }

  /** Throws CHILD_AGENT_UNKNOWN. */
  get(id: string): ChildAgent {
    const child = this.#children.get(id);
    if (!child) throw new SvcError("CHILD_AGENT_UNKNOWN", undefined, { hint: "List them: svc agents list." });
    return child;
  }

  /** Throws CHILD_AGENT_UNKNOWN. */
  events(id: string, since = 0): AgentEvent[] {
    return this.get(id).events.filter(({ seq }) => seq > since);
  }

  /**
   * Its events after `since`, as they come, until it is over. What was forgotten before it was read is told as `undefined`: what is kept is
   * bounded, however slowly it is read. Throws CHILD_AGENT_UNKNOWN; the signal's reason.
   */
  async *follow(id: string, since: number, signal: AbortSignal): AsyncGenerator<AgentEvent | undefined> {
    const child = this.get(id);
    let at = since;
    for (;;) {
      const first = child.events[0]?.seq ?? 0;
      if (first > at + 1) {
        yield undefined;
        at = first - 1;
      }
      // One at a time: while it is read others come, and the oldest go.
      const next = child.events.find(({ seq }) => seq > at);
      if (next) {
        at = next.seq;
        yield next;
      } else if (child.isOver || this.#isStopped) return;
      else await this.watch(() => child.isOver || (child.events.at(-1)?.seq ?? 0) > at, NO_LIMIT_MS, signal);
    }
  }

  /** Ends its process, and those of the child agents that it made. Throws CHILD_AGENT_UNKNOWN. */
  async close(id: string, reason: string): Promise<void> {
    const child = this.get(id);
    await this.#endTurn(id);
    await child.end("closed", reason);
  }

  /** Resolves when it does not work any more, or the time is up. Throws CHILD_AGENT_UNKNOWN; the signal's reason. */
  async wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const child = this.get(id);
    await this.watch(() => !child.isWorking, timeoutMs, signal);
  }

  /** Resolves when `isOver`, asked after each change, or the time is up. Rejects with the signal's reason. */
  async watch(isOver: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (isOver()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (isOver() || this.#isStopped) resolve();
    };
    const onAbort = (): void => reject(signal.reason);
    this.#watchers.add(look);
    signal.addEventListener("abort", onAbort, { once: true });
    const cancel = this.#deps.clock.after(timeoutMs, resolve);
    try {
      await promise;
    } finally {
      cancel();
      this.#watchers.delete(look);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** A turn, or a prompt of a child agent, is over: what it made and did not detach ends with it. */
  async #endTurn(turnId: string): Promise<void> {
    const made = this.list().filter(({ record }) => record.endsWith === turnId);
    await Promise.all(made.map(({ record }) => this.close(record.id, "the turn that made it is over")));
  }

  /** Who has too many processes is ended. A sandbox may hold it to fewer. */
  async #checkProcesses(): Promise<void> {
    const programs = this.list().filter((child) => child.hasProcess && child.record.program !== OWN);
    if (programs.length === 0 || this.#isCounting) return;
    this.#isCounting = true;
    const { mark } = this.#keeper;
    const counts = new Map<string, number>();
    for (const found of await markedProcesses(mark)) {
      const id = found.mark.slice(mark.length).split("/", 1)[0]!;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    this.#isCounting = false;
    const { max_processes: most } = this.#deps.config;
    for (const child of programs) {
      if ((counts.get(child.record.id) ?? 0) > most) void child.end("error", `it has more than ${most} processes`);
    }
  }

  #childOf(record: AgentRecord, events?: readonly AgentEvent[]): ChildAgent {
    const deps: ChildDeps = {
      ...this.#deps,
      keeper: this.#keeper,
      onChange: () => this.#wake(),
      onNext: (child, what) => {
        for (const one of [child, ...this.#makersOf(child)]) one.checkNext(what);
      },
      onSpent: (child, spent) => {
        for (const maker of this.#makersOf(child)) maker.chargeBelow(spent);
      },
      onTurnEnd: (child) => this.#endTurn(child.record.id),
      onEnd: () => this.#prune(),
    };
    return new ChildAgent(deps, record, events);
  }

  #wake(): void {
    for (const look of this.#watchers) look();
  }

  /** The oldest that are over are forgotten. */
  async #prune(): Promise<void> {
    const over = this.list().filter((child) => child.isOver);
    for (const { record } of over.slice(0, Math.max(0, this.#children.size - MAX_ROWS))) {
      this.#children.delete(record.id);
      for (const row of [ROW, EVENTS_ROW]) await this.#deps.state.delete(`${row}${record.id}`).catch(() => false);
    }
  }
}

const titleOf = (text: string): string => {
  const line = text.trim().split("\n", 1)[0]!;
  return line.length > MAX_TITLE_CHARS ? `${line.slice(0, MAX_TITLE_CHARS - 1)}…` : line;
};
