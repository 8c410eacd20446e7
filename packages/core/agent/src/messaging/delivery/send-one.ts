/** One delivery, from its row to what is noted of the attempt. */
import type { Channel, Receipt } from "@svc/contract";
import { inScope } from "@svc/kernel";
import type { Delivery } from "@svc/store";
import type { LeftBehind } from "./left-behind.ts";
import type { PromptState } from "../types.ts";
import type { DispatcherOptions } from "./options.ts";
import { mailIdOf, settle, settleDead, settleMoot } from "./settle.ts";
import { watchedAttempt } from "./watched-attempt.ts";

export interface Sending {
  readonly channel: Channel;
  readonly maxAttempts: number;
  /** Calls it off. */
  readonly signal: AbortSignal;
}

/** What the disk refused is tried again. */
const REFUSED_REST_MS = 1_000;
/** A row that can't be read is a matter for a person; nobody needs to be told of it every second. */
const UNREADABLE_REST_MS = 60_000;

/** Resolves with how long it rests; undefined: there is nothing more to do about it. Never rejects. */
export async function sendOne(
  options: DispatcherOptions,
  left: Pick<LeftBehind<unknown>, "isDeadly" | "note" | "takeBack">,
  n: number,
  sending: Sending,
): Promise<number | undefined> {
  const { store, log } = options;
  let delivery: Delivery | undefined;
  let question: PromptState | undefined;
  try {
    delivery = store.outbox.read(n);
    question = questionOf(options, delivery);
  } catch (error) {
    log.error("a message that waits to be sent can't be read", { messageId: mailIdOf({ n }), error: String(error) });
    return UNREADABLE_REST_MS;
  }
  if (delivery?.state !== "waiting") return undefined;
  const { turnId: turn, traceparent } = delivery;
  return inScope({ turn, traceparent }, () => sendWaiting(options, left, { delivery, question }, sending));
}

interface Waiting {
  readonly delivery: Delivery;
  readonly question: PromptState | undefined;
}

async function sendWaiting(
  options: DispatcherOptions,
  left: Pick<LeftBehind<unknown>, "isDeadly" | "note" | "takeBack">,
  { delivery, question }: Waiting,
  { channel, maxAttempts, signal }: Sending,
): Promise<number | undefined> {
  const { n } = delivery;
  // Whoever found it answered, or over, would answer it again.
  if (isMoot(options, delivery, question)) return settleMoot(options, delivery, signal);
  if (left.isDeadly(n)) return settleDead(options, delivery, "DELIVERY_CRASHED", 0, signal);
  try {
    await left.note(n);
  } catch {
    return REFUSED_REST_MS;
  }
  const outcome = await watchedAttempt(options, channel, delivery, question?.prompt, signal);
  if (outcome.state === "unknown") {
    await left.takeBack(n);
    return undefined;
  }
  if (outcome.state === "failed") options.onFailed?.(n, outcome);
  const waitMs = await settle(options, delivery, outcome, maxAttempts, signal);
  if (outcome.state === "sent") closeIfOver(options, delivery, outcome.receipt);
  return waitMs;
}

const questionOf = ({ prompts }: DispatcherOptions, delivery: Delivery | undefined): PromptState | undefined =>
  delivery?.approval === undefined ? undefined : prompts?.promptOf(delivery.approval);

const isMoot = ({ prompts }: DispatcherOptions, { approval }: Delivery, question: PromptState | undefined): boolean =>
  prompts !== undefined && approval !== undefined && question?.isWaiting !== true;

/** It was settled while it was being posted: whoever closes what is posted did not know of it. */
function closeIfOver(options: DispatcherOptions, delivery: Delivery, { platformId }: Receipt): void {
  const question = questionOf(options, delivery);
  if (!question || question.isWaiting) return;
  const { conversation, text } = delivery;
  options.closePrompt?.({ conversation, platformId, text }, question.outcome ?? "This is settled.");
}
