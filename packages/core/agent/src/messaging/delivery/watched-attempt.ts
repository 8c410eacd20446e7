/** One try to send one delivery, as observers see it. */
import type { Channel, ErrorCode, Prompt } from "@svc/contract";
import type { Delivery } from "@svc/store";
import { codeOf, watched } from "../../observe/watched.ts";
import { attempt, type Outcome } from "./attempt.ts";
import type { DispatcherOptions } from "./options.ts";
import { mailIdOf } from "./settle.ts";

/** As `attempt`. */
export function watchedAttempt(
  options: DispatcherOptions,
  channel: Channel,
  delivery: Delivery,
  prompt: Prompt | undefined,
  called: AbortSignal,
): Promise<Outcome> {
  const { instruments, log } = options;
  const about = { messageId: mailIdOf(delivery), channel: delivery.conversation.channel };
  const onUnexpected = (error: unknown): void =>
    log.error("a channel failed unexpectedly", { ...about, error: nameOf(error) });
  const send = () => attempt({ ...options, onUnexpected }, channel, delivery, prompt, called);
  if (!instruments.isWatched) return send();
  const work = instruments.begin("delivery", { ...about, attempt: delivery.attempts + 1 });
  return watched(work, send, (error, outcome) => ({ error: outcome ? errorOf(outcome, called) : error }));
}

function errorOf(outcome: Outcome, called: AbortSignal): ErrorCode | undefined {
  if (outcome.state === "sent") return undefined;
  return outcome.state === "failed" ? outcome.code : codeOf(called.reason, "TURN_CANCELLED");
}

/** Its words may be the platform's. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
