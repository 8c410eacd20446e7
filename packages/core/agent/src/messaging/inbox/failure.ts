/**
 * What a failed attempt comes to.
 *
 *   again, not counted   STORE_*, BUSY: nothing was wrong with the message, and nothing was tried
 *   again                MODEL_UNREACHABLE, MODEL_REFUSED by a provider that is busy or in trouble: as often as a delivery
 *                        is tried, so that the message outlives what its answer would; TURN_FAILED once
 *   the end              everything else: a wrong key, a missing agent, a limit of steps, time or money would be the same
 *                        again, and cost the same
 */
import { ERRORS, type ErrorCode, type ModelFailureReason, type SvcError } from "@svc/contract";
import type { InboxMessage } from "@svc/store";
import { mayPass, ModelError } from "../../models/model-error.ts";

export type Verdict = "again, not counted" | "again" | "end";

/** `before`: what the attempts before this one came to. */
export function judge(error: SvcError, before: Pick<InboxMessage, "attempts" | "error">, maxAttempts: number): Verdict {
  const { code } = error;
  if (code === "BUSY" || code === "STORE_FULL" || code === "STORE_FAILED") return "again, not counted";
  if (code === "TURN_FAILED") return before.error === code ? "end" : "again";
  return mayPass(error) && before.attempts + 1 < maxAttempts ? "again" : "end";
}

/**
 * What the sender is told. The sentence of the code, or what a sender can do about the failure: an error's own words may be
 * about the set-up.
 */
export function apologyFor(code: ErrorCode, error?: SvcError): string {
  const advice = error instanceof ModelError ? ADVICE[error.reason] : undefined;
  const { sentence } = ERRORS[code];
  return `Sorry, this message could not be answered: ${advice ?? `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`}`;
}

const BUSY = "the model provider is busy. Send it again in a few minutes.";

const ADVICE: Readonly<Partial<Record<ModelFailureReason, string>>> = {
  "rate-limited": BUSY,
  overloaded: BUSY,
  "context-full": "the conversation is too long for the model. Send /new to begin another one, then send it again.",
  "content-refused": "the model provider declined to answer it. Send it in other words.",
};

export const STOPPED = "This message will not be answered: its turn was stopped.";
