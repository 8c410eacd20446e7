/** One child agent: its life from its start to its end, and its row in the store. A state is told only when it is on disk. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { type AgentAccess, type ChildAgentStatus, type ErrorCode, type FeatureContext, SvcError } from "@svc/contract";
import { Semaphore } from "@svc/kit/async";
import { AcpLink } from "./acp-link.ts";
import { excessOf, type Spent, sumOf } from "./budget.ts";
import type { PoolConfig } from "./config.ts";
import type { Keeper } from "./keeper.ts";
import {
  type AgentEvent,
  type AgentRecord,
  EVENTS_ROW,
  eventsText,
  type Liveness,
  OWN,
  recordText,
  ROW,
  seqAfter,
  spentOf,
} from "./record.ts";

const MAX_EVENTS = 500;
const MAX_EVENT_CHARS = 2000;
/** Less than a tool result may have. */
const MAX_RESULT_CHARS = 32 * 1024;
const START_TIMEOUT_MS = 60_000;
const EVENTS_EVERY_MS = 5000;

export type ChildDeps = Pick<
  FeatureContext<PoolConfig>,
  "config" | "clock" | "log" | "state" | "publish" | "audit" | "child" | "homeFolder"
> & {
  readonly agents: AgentAccess;
  readonly keeper: Keeper;
  /** Something is to be seen. */
  readonly onChange: () => void;
  /** It is about to spend something. Throws CHILD_AGENT_BUDGET. */
  readonly onNext: (child: ChildAgent, what: "model" | "action") => void;
  /** It spent something. */
  readonly onSpent: (child: ChildAgent, spent: Spent) => void;
  /** A prompt is over, or the child: what it made ends with it. */
  readonly onTurnEnd: (child: ChildAgent) => Promise<void>;
  readonly onEnd: () => Promise<void>;
};

export class ChildAgent {
  readonly record: AgentRecord;
  /** The newest. */
  readonly events: AgentEvent[];
  readonly #deps: ChildDeps;
  #link: AcpLink | undefined;
  #nextSeq: number;
  /** Monotonic: when the events were written last; undefined: nothing has happened since. */
  #unwrittenSince: number | undefined;
  /** Monotonic. */
  #lastSignAt: number;
  #promptedAt: number;
  #answer = "";
  #isAnswerCut = false;
  readonly #writes = new Semaphore(1);
  /** Its end was decided. */
  #isEnding = false;

  /** `events`: of an earlier process. */
  constructor(deps: ChildDeps, record: AgentRecord, events: readonly AgentEvent[] = []) {
    this.#deps = deps;
    this.record = record;
    this.events = [...events];
    this.#nextSeq = seqAfter(events);
    this.#lastSignAt = this.#promptedAt = deps.clock.monotonic();
  }

  get hasProcess(): boolean {
    return this.#link !== undefined;
  }

  get alive(): Liveness {
    return { processAlive: this.#link?.processAlive ?? false, pumpAlive: this.#link?.pumpAlive ?? false };
  }

  get isWorking(): boolean {
    return this.record.status === "initializing" || this.record.status === "running";
  }

  get isOver(): boolean {
    return !this.hasProcess && (this.record.status === "error" || this.record.status === "closed");
  }

  /** Resolves when its row is on disk; from then on it starts. Rejects with STORE_*, AGENT_UNKNOWN; then no child exists. */
  async create(prompt: string): Promise<void> {
    const link = this.#openLink();
    await this.#store();
    this.#link = link;
    this.#tell();
    this.#audit("agents-start", { depth: this.record.depth, agent: this.record.rights.agent });
    void this.#start(link, prompt);
  }

  /** Asks it once more. Throws CHILD_AGENT_STATE, STORE_*. */
  async prompt(text: string): Promise<void> {
    const { status } = this.record;
    if (status !== "idle" || this.#isEnding || !this.#link) {
      throw new SvcError("CHILD_AGENT_STATE", `This child agent is ${status}; only an idle one is asked.`);
    }
    await this.#begin(text);
    void this.#finish(this.#link, text);
  }

  /** It ends its answer and is idle. Throws CHILD_AGENT_STATE. */
  async interrupt(): Promise<void> {
    if (this.record.status !== "running") {
      throw new SvcError("CHILD_AGENT_STATE", "Only a child agent that runs can be interrupted.");
    }
    await this.#link?.cancel();
  }

  /**
   * Its end is decided at once; resolves when its processes are gone and it is on disk. `isDead`: its own process is gone, or can't be
   * talked with, which is told before what it left is looked for.
   */
  async end(
    status: "error" | "closed",
    reason: string,
    { isDead = false, code = "CHILD_AGENT_FAILED" }: { readonly isDead?: boolean; readonly code?: ErrorCode } = {},
  ): Promise<void> {
    const link = this.#link;
    if (this.#isEnding) return;
    const more = { code: status === "error" ? code : undefined };
    if (link === undefined) {
      if (!this.isOver) await this.#become(status, reason, more);
      return;
    }
    this.#isEnding = true;
    const { pid } = this.record;
    // What has to be killed first is told when it is gone.
    if (isDead || !link.processAlive) await this.#become(status, reason, more);
    await link.close().catch(() => undefined);
    link.processAlive = false;
    if (pid !== undefined) this.#deps.keeper.remove(pid);
    this.#link = undefined;
    await this.#deps.onTurnEnd(this);
    if (this.record.status !== status) await this.#become(status, reason, more);
    this.#deps.onChange();
    this.#audit("agents-end", { status, reason });
    await this.#deps.onEnd();
  }

  /** What a child agent that it made, or one below, has spent counts as its own. */
  chargeBelow(spent: Spent): void {
    this.record.spentBelow = sumOf(this.record.spentBelow, spent);
    this.#checkBudget();
  }

  /** Ends it where it has spent more than it may. */
  #checkBudget(): void {
    const excess = this.#link && !this.#isEnding && excessOf(this.record.budget, spentOf(this.record));
    if (excess) void this.end("error", excess, { code: "CHILD_AGENT_BUDGET" });
  }

  /** Ends it before it, or one below, spends more than it may. Throws CHILD_AGENT_BUDGET. */
  checkNext(what: "model" | "action"): void {
    const excess = excessOf(this.record.budget, spentOf(this.record), what);
    if (!excess) return;
    void this.end("error", excess, { code: "CHILD_AGENT_BUDGET" });
    throw new SvcError("CHILD_AGENT_BUDGET", `The child agent was ended: ${excess}.`);
  }

  #spend(spent: Spent): void {
    this.record.actions += spent.actions;
    this.#deps.onSpent(this, spent);
    this.#checkBudget();
  }

  /** Ends it where it gives no sign or takes too long. */
  check(): void {
    const { clock, config } = this.#deps;
    const link = this.#link;
    const now = clock.monotonic();
    if (now - (this.#unwrittenSince ?? now) >= EVENTS_EVERY_MS) this.#storeEvents();
    if (!link || this.#isEnding) return;
    const silentMs = now - this.#lastSignAt;
    if (this.record.status === "initializing" && silentMs > START_TIMEOUT_MS) {
      void this.end("error", "it did not start within 60 seconds");
    }
    if (this.record.status !== "running") return;
    if (now - this.#promptedAt > config.max_run_secs * 1000) {
      void this.end("error", `it ran longer than ${config.max_run_secs} seconds`);
    } else if (link.hostWork === 0 && silentMs > config.zombie_after_secs * 1000) {
      void this.end("error", `it ran without an event for ${config.zombie_after_secs} seconds`);
    }
  }

  #openLink(): AcpLink {
    const { clock, agents, config, keeper } = this.#deps;
    const { record } = this;
    const program = record.program === OWN ? undefined : config.programs[record.program]?.command;
    return new AcpLink({
      loan: agents.lend(record.rights, { turnId: record.id, clientId: record.owner }),
      clock,
      mark: `${keeper.mark}${record.id}/`,
      program: program as [string, ...string[]] | undefined,
      own: this.#deps.child("agent-loop"),
      onSign: () => {
        this.#lastSignAt = clock.monotonic();
        record.lastEventAt = clock.now();
      },
      onUpdate: (update) => this.#note(update),
      onPermission: ({ toolCall }) => this.#event("permission", toolCall.title ?? toolCall.toolCallId),
      onSpent: ({ inputTokens, outputTokens, costUsd }) => {
        record.inputTokens += inputTokens;
        record.outputTokens += outputTokens;
        record.costUsd = record.costUsd === undefined || costUsd === undefined ? undefined : record.costUsd + costUsd;
        this.#spend({ costUsd, tokens: inputTokens + outputTokens, actions: 0 });
      },
      onNext: (what) => {
        this.#deps.onNext(this, what);
        if (what === "action") this.#spend(ONE_ACTION);
      },
      onStart: (pid) => {
        record.pid = pid;
        if (pid !== undefined) keeper.add(pid);
      },
      onDeath: (reason) => void this.end("error", reason, { isDead: true }),
    });
  }

  async #start(link: AcpLink, prompt: string): Promise<void> {
    this.#deps.keeper.watch();
    try {
      await link.open();
      if (this.#isEnding) return;
      await this.#begin(prompt);
    } catch (error) {
      return await this.end("error", reasonOf(error), failureOf(error));
    }
    await this.#finish(link, prompt);
  }

  async #begin(text: string): Promise<void> {
    this.#promptedAt = this.#lastSignAt = this.#deps.clock.monotonic();
    this.#answer = "";
    this.#isAnswerCut = false;
    this.record.prompts += 1;
    await this.#become("running", undefined);
    this.#event("prompt", text);
  }

  async #finish(link: AcpLink, text: string): Promise<void> {
    try {
      const stopReason = await link.prompt(text);
      await this.#deps.onTurnEnd(this);
      if (this.#isEnding) return;
      if (stopReason === "cancelled") return await this.#become("idle", "it was interrupted");
      if (stopReason !== "end_turn") return await this.end("error", `it ended its answer: ${stopReason}`);
      if (this.#answer.trim() === "") return await this.end("error", "its answer was empty");
      await this.#become("idle", undefined, { result: this.#answer, isResultCut: this.#isAnswerCut });
    } catch (error) {
      await this.end("error", reasonOf(error), failureOf(error));
    }
  }

  #note(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "agent_message_chunk": {
        const text = update.content.type === "text" ? update.content.text : "";
        const room = MAX_RESULT_CHARS - this.#answer.length;
        this.#answer += text.slice(0, room);
        if (text.length > room) this.#isAnswerCut = true;
        return this.#event("text", text);
      }
      case "agent_thought_chunk":
        return this.#event("thought", update.content.type === "text" ? update.content.text : "");
      case "tool_call":
      case "tool_call_update":
        // svc's own agent calls its tools by way of svc, which counts them.
        if (update.sessionUpdate === "tool_call" && this.record.program !== OWN) this.#spend(ONE_ACTION);
        return this.#event("tool", `${update.title ?? update.toolCallId}: ${update.status ?? "in_progress"}`);
      case "plan":
        return this.#event("plan", update.entries.map(({ content }) => content).join("\n"));
      case "usage_update":
        if (update.cost?.currency === "USD") this.#noteCost(update.cost.amount);
        return;
      default:
        return this.#event("other", update.sessionUpdate);
    }
  }

  /** Of its whole session so far, as a program says it. */
  #noteCost(usd: number): void {
    const more = usd - (this.record.costUsd ?? 0);
    this.record.costUsd = usd;
    this.#spend({ costUsd: Math.max(0, more), tokens: 0, actions: 0 });
  }

  #event(kind: AgentEvent["kind"], text: string): void {
    const { events } = this;
    events.push({ seq: this.#nextSeq, at: this.#deps.clock.now(), kind, text: text.slice(0, MAX_EVENT_CHARS) });
    this.#nextSeq += 1;
    this.#unwrittenSince ??= this.#deps.clock.monotonic();
    if (events.length > MAX_EVENTS) events.splice(0, events.length - MAX_EVENTS);
    this.#deps.onChange();
  }

  /** Another state, with what it came to: on disk first. */
  async #become(
    status: ChildAgentStatus,
    reason: string | undefined,
    more: Partial<Pick<AgentRecord, "result" | "isResultCut" | "code">> = {},
  ): Promise<void> {
    const { record } = this;
    const pid = status === "error" || status === "closed" ? undefined : record.pid;
    const next = { status, reason, pid, lastEventAt: this.#deps.clock.now(), code: undefined, ...more };
    try {
      await this.#store(next);
    } catch (error) {
      this.#deps.log.error("a child agent's state could not be stored", { agent: record.id, code: codeOf(error) });
      // The process is what it is, but a result that is not on disk is none.
      if (more.result !== undefined) return await this.end("error", "its result could not be stored");
    }
    Object.assign(record, next);
    this.#event("status", reason === undefined ? status : `${status}: ${reason}`);
    this.#storeEvents();
    this.#tell();
  }

  /** In the background: they are for a person who looks after a restart; what is not written by then is lost. */
  #storeEvents(): void {
    this.#unwrittenSince = undefined;
    const { id } = this.record;
    const text = eventsText(this.events);
    const write = () => this.#deps.state.set(`${EVENTS_ROW}${id}`, text);
    this.#writes.run(write).catch((error: unknown) => {
      this.#deps.log.warn("a child agent's events could not be stored", { agent: id, code: codeOf(error) });
    });
  }

  /** Rows are written in order. */
  #store(change: Partial<AgentRecord> = {}): Promise<void> {
    const text = recordText({ ...this.record, ...change });
    const written = this.#writes.run(() => this.#deps.state.set(`${ROW}${this.record.id}`, text));
    written.catch(() => undefined);
    return written;
  }

  #tell(): void {
    const { id: agentId, title, parent, program, status, reason, costUsd } = this.record;
    this.#deps.publish({ type: "agent-changed", agentId, title, parent, program, status, reason, costUsd });
  }

  #audit(kind: string, more: Readonly<Record<string, string | number>>): void {
    const { id, title, program, parent } = this.record;
    this.#deps.audit(kind, { id, title, program, parent: parent ?? null, ...more }).catch((error: unknown) => {
      this.#deps.log.error("a line of the audit log could not be written", { kind, code: codeOf(error) });
    });
  }
}

const ONE_ACTION: Spent = { costUsd: 0, tokens: 0, actions: 1 };

const reasonOf = (error: unknown): string =>
  error instanceof SvcError ? `${error.code}: ${error.message}`.slice(0, 500) : "it failed unexpectedly";

const failureOf = (error: unknown) => (error instanceof SvcError ? { code: error.code } : {});

const codeOf = (error: unknown): string => (error instanceof SvcError ? error.code : "unknown");
