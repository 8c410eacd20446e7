/** Runs of procedures, and the audit log, on disk. */
import type { ErrorCode, Json } from "@svc/contract";

export type SopRunStatus = "pending" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled";

export interface SopRun {
  /** Order of being started. */
  readonly n: number;
  readonly id: string;
  readonly sop: string;
  /** The definition as it was when the run began: a change of the file is for later runs. */
  readonly definition: Json;
  readonly mode: string;
  readonly status: SopRunStatus;
  /** From 1; the step that runs, waits, or was the last. */
  readonly step: number;
  readonly source: string;
  readonly topic: string;
  /** JSON text as it came; null: none. */
  readonly payload: string | null;
  /** For a person. */
  readonly startedBy: string;
  /** Of a run that a tool call started: the agent's name. */
  readonly startedByAgent: string | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly error: ErrorCode | undefined;
  /** A sentence of ours. */
  readonly reason: string | undefined;
  /** Started to try the procedure out. */
  readonly isTest: boolean;
  /** The run whose finished steps it took over; undefined: none. */
  readonly retryOf: string | undefined;
  /** The step that it began with, from 1: those before were taken over. */
  readonly firstStep: number;
  /** W3C `traceparent` of what began it. */
  readonly traceparent: string | undefined;
}

export interface SopStepRow {
  readonly runN: number;
  readonly step: number;
  readonly status: "running" | "waiting_approval" | "completed" | "failed" | "cancelled";
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  /** What the next step is given. */
  readonly output: Json;
}

/** A run that begins. */
export interface NewSopRun extends Omit<
  SopRun,
  "n" | "status" | "step" | "endedAtMs" | "error" | "reason" | "traceparent" | "isTest" | "retryOf" | "firstStep"
> {
  readonly isTest?: boolean;
  readonly retryOf?: string | undefined;
  /** Default: 1. */
  readonly firstStep?: number;
  /** Of a call that may be made again: one run comes of it. */
  readonly key?: string | undefined;
  /** What stands around text from outside in its prompts. */
  readonly fence: string;
}

export interface SopRunEnd extends Partial<Pick<SopRun, "error" | "reason">> {
  readonly status: "completed" | "failed" | "cancelled";
}

export interface SopRunQuery {
  readonly sop?: string;
  readonly status?: SopRunStatus;
  /** What started it, e.g. `cron`. */
  readonly source?: string;
  /** Test runs alone, or all others. */
  readonly test?: boolean;
  /** Only those with a smaller `n`. */
  readonly before?: number;
}

/** One line of the audit log. `hash` is over the line and the hash before it. */
export interface AuditEntry {
  readonly n: number;
  readonly atMs: number;
  /** noun-verb, e.g. `sop-run-start`. */
  readonly kind: string;
  readonly data: Json;
  /** Hex SHA-256. */
  readonly hash: string;
}
