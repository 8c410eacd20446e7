/**
 * The one error class. `code` is stable and documented (docs/reference/errors.md is generated from `ERRORS`),
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
