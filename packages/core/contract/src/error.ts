/**
 * The one error class, and the two errors that turns end with. `code` is stable and documented (docs/reference/errors.md is generated from `ERRORS`),
 * `message` is a sentence for a person, `hint` says what to do now. Neither ever quotes a received value; `said` does, and goes
 * to operators only.
 */
import { ERRORS, type ErrorCode } from "./error-codes.ts";

export interface SvcErrorOptions {
  /** What the reader can do now: a command, a key to change. */
  hint?: string;
  cause?: unknown;
  /** Milliseconds after which trying again can succeed. */
  retryAfterMs?: number;
  /** What an outside service said: without secrets, cut short. Only operators may see it. */
  said?: string;
}

export class SvcError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly said: string | undefined;

  constructor(code: ErrorCode, message?: string, options: SvcErrorOptions = {}) {
    super(message ?? ERRORS[code].sentence, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "SvcError";
    this.code = code;
    this.hint = options.hint;
    this.retryAfterMs = options.retryAfterMs;
    this.said = options.said;
  }

  /** The HTTP status this error is answered with. */
  get status(): number {
    return ERRORS[this.code].status;
  }

  /** The exit code of a command that ends with this error (sysexits.h). */
  get exitCode(): number {
    return ERRORS[this.code].exit;
  }
}

/** A shutdown postpones a turn to the next process. Its pending approvals stay open meanwhile. */
const POSTPONED = "it goes on in the next process";

export const postponed = (): SvcError =>
  new SvcError("TURN_CANCELLED", "The service is stopping.", { cause: POSTPONED });

/** Of the reason why a turn, a run or a question of theirs was called off. */
export function isPostponed(reason: unknown): boolean {
  for (let error = reason; error instanceof SvcError; error = error.cause) if (error.cause === POSTPONED) return true;
  return false;
}

/** A failed turn as shown to a person, on the page, at the terminal and in lists. */
export interface TurnFailure {
  readonly code: ErrorCode;
  /** A sentence of ours; safe for everybody. */
  readonly message: string;
  /** What to do now. For the operator: it names config keys and commands. */
  readonly fix: string;
  /** The provider's own words, without secrets and cut short. For operators only. */
  readonly said: string | undefined;
}

/** Why a model gave no answer. */
export type ModelFailureReason =
  | "key-refused"
  | "not-allowed"
  | "no-credit"
  | "model-unknown"
  | "rate-limited"
  | "overloaded"
  | "provider-failed"
  | "context-full"
  | "content-refused"
  | "request-refused"
  | "redirected"
  | "broke-off"
  | "unreadable"
  | "host-unknown"
  | "connection-refused"
  | "tls-failed"
  | "timed-out"
  | "connection-failed"
  | "answer-too-long";

/** Turns any thrown value into a failure. Only a SvcError's message is shown; every failure has a fix. */
export function turnFailure(thrown: unknown): TurnFailure {
  const { code, message, hint, said, retryAfterMs } =
    thrown instanceof SvcError ? thrown : new SvcError("TURN_FAILED", undefined, { cause: thrown });
  const again = retryAfterMs === undefined ? "Try again." : `Try again in ${waitText(retryAfterMs)}.`;
  return { code, message, fix: hint ?? FIXES[code] ?? again, said };
}

/** `7 s`, `3 minutes`; rounded up. */
export function waitText(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
}

/** Where the error itself brings no hint. */
const FIXES: Readonly<Partial<Record<ErrorCode, string>>> = {
  AGENT_UNKNOWN: "Choose an agent of the config; svc status lists them.",
  BUSY: "Try again shortly, or raise agent.max_parallel_turns.",
  CONFIG_INVALID: "Correct the config: svc config check.",
  COST_LIMIT: "Wait for midnight UTC, or raise the agent's max_cost_per_day.",
  DRAINING: "Try again when the service has started again.",
  INTERNAL: "Try again; svc logs has the details.",
  MODEL_REFUSED: "Check [model] in the config: svc model test.",
  MODEL_UNREACHABLE: "Check model.base_url and the network: svc model test.",
  STORE_FAILED: "Run svc doctor, then try again.",
  STORE_FULL: "Free disk space, then try again.",
  TURN_CRASHED: "Run svc doctor, then send the message again.",
  TURN_FAILED: "Try again; svc logs has the details.",
  TURN_INTERRUPTED: "Send the message again, or ask for the rest of the answer.",
  TURN_STEP_LIMIT: "Raise agent.max_steps, or ask for less at once.",
  TURN_TIMEOUT: "Try again; if the model needs longer, raise agent.turn_timeout_secs.",
};
