/** Runs of procedures, as the gateway, the tools and the command line see them. */
import type { Json } from "@svc/contract";
import type { AuditEntry, SopRun, SopRunStatus, SopStepRow } from "@svc/store";
import type { Pending } from "../approvals/types.ts";
import type { BrokenSop, LoadedSop, SopTriggerEvent } from "../library/types.ts";

export interface Dispatched {
  readonly runs: readonly { readonly sop: string; readonly runId: string }[];
  readonly skipped: readonly { readonly sop: string; readonly reason: string }[];
}

/** Who starts a run. */
export interface Starter {
  /** For a person, e.g. `webhook /deploy`, `device phone`, `an operator at the command line`. */
  readonly by: string;
  /** The agent whose tool call it is. */
  readonly agent?: string;
  /** Of a call that may be made again after a kill: one run comes of it. */
  readonly key?: string;
}

/** A sample of what a procedure waits for. */
export interface SopSample {
  /** Index of the trigger that is tried out; undefined: started as by hand, without a condition. */
  readonly trigger?: number;
  /** JSON text; null: none. */
  readonly payload: string | null;
}

/** A run that goes on from a step of an earlier one. */
export interface SopRetry {
  readonly run: SopRun;
  /** Steps that may have acted in an earlier run: each waits for a person before it acts again. */
  readonly asks: readonly number[];
}

/** When a cron trigger starts its procedure, within the days that were asked for. */
export interface SopTimes {
  readonly sop: string;
  readonly expression: string;
  readonly timezone: string | undefined;
  /** Milliseconds since the epoch, in order. */
  readonly atMs: readonly number[];
  /** There are more than are listed. */
  readonly hasMore: boolean;
}

export interface SopCalendar {
  readonly fromMs: number;
  readonly untilMs: number;
  /** By their first time. */
  readonly times: readonly SopTimes[];
  /** Triggers with a time in these days that are not listed. */
  readonly left: number;
}

export interface Sops {
  /** Whether some procedure is started by requests to exactly this path. */
  hasPath(path: string): boolean;
  /** Whether some procedure has a trigger that the event fits, condition included. */
  fits(event: SopTriggerEvent): boolean;
  /** Starts what the event fits. Resolves once the runs are on disk. Rejects with STORE_*. */
  dispatch(event: SopTriggerEvent, starter: Starter): Promise<Dispatched>;
  /** The same inside a transaction of the caller. */
  dispatchIn(event: SopTriggerEvent, starter: Starter): Pending<Dispatched>;
  /** By name. Throws SOP_UNKNOWN, SOP_INVALID, SOP_NOT_MANUAL, SOP_BUSY, TOO_LARGE, STORE_*. */
  run(name: string, payload: string | null, starter: Starter): Promise<SopRun>;
  /**
   * A run that is marked as a test: also of a procedure that is disabled, whatever its cooldown. It has the gates of any other run.
   * Throws SOP_UNKNOWN, SOP_INVALID, SOP_NOT_TRIGGERED, SOP_BUSY, TOO_LARGE, STORE_*.
   */
  test(name: string, sample: SopSample, starter: Starter): Promise<SopRun>;
  /**
   * A new run of the procedure as it is now, which takes over the results of the steps before `step`. Throws SOP_RUN_UNKNOWN,
   * SOP_RUN_ACTIVE, SOP_RETRY_REFUSED, SOP_UNKNOWN, SOP_INVALID, SOP_DISABLED, SOP_BUSY, STORE_*.
   */
  retry(runId: string, step: number, starter: Starter): Promise<SopRetry>;
  /** What cron starts in the next days. */
  calendar(days: number, sop?: string): Promise<SopCalendar>;
  list(): readonly SopSummary[];
  /** Procedures that never were good. */
  broken(): readonly BrokenSop[];
  /** Throws SOP_UNKNOWN. */
  show(name: string): SopSummary;
  runs(filter: SopRunFilter, limit: number): SopRunPage;
  hasRun(id: string): boolean;
  /** Throws SOP_RUN_UNKNOWN. */
  readRun(id: string): SopRunDetail;
  /** Throws SOP_RUN_UNKNOWN, SOP_RUN_ENDED, STORE_*. */
  cancel(id: string, by: string): Promise<SopRun>;
  /** Reads the files again. */
  reload(): Promise<void>;
  readonly audit: AuditLog;
  /** Takes up what the last process left, then follows files and clock. */
  start(): void;
  /** Begins nothing more; running steps have `graceMs`, and go on in the next process. */
  stop(graceMs: number): Promise<void>;
}

export interface SopSummary extends LoadedSop {
  readonly activeRuns: number;
  readonly lastRun: SopRun | undefined;
  /** Of each cron trigger, in their order: milliseconds since the epoch; undefined: never again. */
  readonly nextAtMs: readonly (number | undefined)[];
}

export interface SopRunFilter {
  readonly sop?: string;
  readonly status?: SopRunStatus;
  /** What started it, e.g. `cron`. */
  readonly source?: string;
  /** Test runs alone, or all others. */
  readonly test?: boolean;
  /** Only those with a smaller `n`. */
  readonly before?: number;
}

export interface SopRunPage {
  /** Newest first. */
  readonly runs: readonly SopRun[];
  readonly next: number | undefined;
}

export interface SopRunDetail {
  readonly run: SopRun;
  readonly steps: readonly SopStepRow[];
}

export interface AuditLog {
  /** Newest first. */
  list(limit: number, before?: number): { readonly entries: readonly AuditEntry[]; readonly next: number | undefined };
  /** Reads all of it. `brokenAt`: the first line that does not fit. */
  verify(): Promise<{ readonly entries: number; readonly brokenAt: number | undefined }>;
  /** Inside a transaction. */
  add(kind: string, data: Json): void;
}

/** What a step's work is handed to; the app has the agent do it. */
export interface StepWorker {
  /** A turn with the step's tools only. Throws TURN_*, MODEL_*, COST_LIMIT, STORE_*; a turn that was kept is taken up. */
  turn(step: TurnStepWork): Promise<{ readonly response: string }>;
  /** One tool call without a model. */
  call(step: CallStepWork): Promise<{ readonly ok: boolean; readonly output: Json }>;
  /** Whether a tool acts, by its name and input. Throws TOOL_UNKNOWN, TOOL_UNAVAILABLE. */
  acts(agent: string | undefined, tool: string, input: Json): boolean;
  /** Whether it runs command lines, whatever its input. Throws as `acts`. */
  runsCommands(agent: string | undefined, tool: string): boolean;
  /** Nobody takes this turn up again: what it has left on disk goes. Throws STORE_*. */
  abandon(turn: AbandonedStep): Promise<void>;
}

export interface AbandonedStep {
  readonly runId: string;
  readonly agent: string | undefined;
  readonly turnId: string;
}

export interface TurnStepWork {
  readonly runId: string;
  readonly sop: string;
  /** Of the run's conversation. */
  readonly title: string;
  readonly agent: string | undefined;
  /** What the child agent runs on that does it; undefined: the agent does it itself. */
  readonly childAgent: string | undefined;
  /** Stable over restarts, other for each step. */
  readonly turnId: string;
  readonly text: string;
  readonly instructions: string;
  readonly tools: readonly string[];
  /** The step's gate was approved: its tools may run, once each. */
  readonly granted: boolean;
  /** Runs inside the transaction that ends the turn. */
  readonly inTransaction: (response: string) => void;
  readonly signal: AbortSignal;
}

export interface CallStepWork {
  readonly runId: string;
  readonly sop: string;
  readonly agent: string | undefined;
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  readonly granted: boolean;
  readonly signal: AbortSignal;
}
