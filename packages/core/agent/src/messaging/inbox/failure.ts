/**
 * What a failed attempt comes to.
 *
 *   again, not counted   STORE_*, BUSY: nothing was wrong with the message, and nothing was tried
 *   again                MODEL_UNREACHABLE, MODEL_REFUSED by a provider that is busy or in trouble: as often as a delivery
 *                        is tried, so that the message outlives what its answer would; TURN_FAILED once
 *   the end              everything else: a wrong key, a missing agent, a limit of steps, time or money would be the same
 *                        again, and cost the same
 */
import { ERRORS, type ErrorCode, type SvcError } from "@svc/contract";
import type { InboxMessage } from "@svc/store";
import { mayPass } from "../../models/model-error.ts";

export type Verdict = "again, not counted" | "again" | "end";

/** `before`: what the attempts before this one came to. */
export function judge(error: SvcError, before: Pick<InboxMessage, "attempts" | "error">, maxAttempts: number): Verdict {
  const { code } = error;
  if (code === "BUSY" || code === "STORE_FULL" || code === "STORE_FAILED") return "again, not counted";
  if (code === "TURN_FAILED") return before.error === code ? "end" : "again";
  return mayPass(error) && before.attempts + 1 < maxAttempts ? "again" : "end";
}

/** What the sender is told. The sentence of the code and no other: an error's own words may be about the set-up. */
export function apologyFor(code: ErrorCode): string {
  const { sentence } = ERRORS[code];
  return `Sorry, this message could not be answered: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

export const STOPPED = "This message will not be answered: its turn was stopped.";
