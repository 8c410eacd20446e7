/** A piece of work from its beginning to its end, however that comes: observers are told one end of each. */
import { type ErrorCode, SvcError, type WorkKind, type WorkResults } from "@svc/contract";
import type { OpenSpan } from "./tracer.ts";

/**
 * Does `run` as the innermost piece of work. `resultOf` is handed what it went wrong with (undefined: it went well), and what
 * it came to then.
 */
export async function watched<Kind extends WorkKind, T>(
  work: OpenSpan<Kind>,
  run: () => Promise<T>,
  resultOf: (error: ErrorCode | undefined, done: T | undefined) => WorkResults[Kind],
): Promise<T> {
  try {
    const done = await work.during(run);
    work.end(resultOf(undefined, done));
    return done;
  } catch (error) {
    work.end(resultOf(codeOf(error), undefined));
    throw error;
  }
}

/** `otherwise`: of what is no `SvcError`, which nobody expects. */
export const codeOf = (error: unknown, otherwise: ErrorCode = "INTERNAL"): ErrorCode =>
  error instanceof SvcError ? error.code : otherwise;
