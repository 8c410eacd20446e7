/**
 * What a failed attempt comes to.
 *
 *   again, not counted   STORE_*, BUSY: nothing was wrong with the message, and nothing was tried
 *   again                MODEL_UNREACHABLE, MODEL_REFUSED by a provider that is busy or in trouble; TURN_FAILED once
 *   the end              everything else: a wrong key, a missing agent, a limit of steps, time or money would be the same
 *                        again, and cost the same. And the fifth time.
 */
import { ERRORS, type ErrorCode, SvcError } from "@svc/contract";
import { mayPass } from "../../models/model-error.ts";

export type Verdict = "again, not counted" | "again" | "end";

const MAX_ATTEMPTS = 5;

/** `attempts`: those that failed before. */
export function judge(error: SvcError, attempts: number): Verdict {
  if (error.code === "BUSY" || error.code === "STORE_FULL" || error.code === "STORE_FAILED")
    return "again, not counted";
  const isLast = attempts + 1 >= (error.code === "TURN_FAILED" ? 2 : MAX_ATTEMPTS);
  return !isLast && (error.code === "TURN_FAILED" || mayPass(error)) ? "again" : "end";
}

/** What the sender is told. The sentence of the code and no other: an error's own words may be about the set-up. */
export function apologyFor(code: ErrorCode): string {
  const { sentence } = ERRORS[code];
  return `Sorry, this message could not be answered: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

export const STOPPED = "This message will not be answered: its turn was stopped.";
