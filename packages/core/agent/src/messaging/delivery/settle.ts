/** What became of an attempt: on disk first, told afterwards. */
import type { Clock, ErrorCode, Logger, MessageEvent, Receipt } from "@svc/contract";
import type { Delivery, Store } from "@svc/store";
import type { PromptSource } from "../types.ts";
import type { Outcome } from "./attempt.ts";
import { restMs } from "./back-off.ts";
import { isSpoken, type SpokenAnswers } from "./spoken-file.ts";

export interface SettleParts {
  readonly store: Pick<Store, "outbox" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly publish: (event: MessageEvent) => void;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random: () => number;
  readonly prompts?: PromptSource | undefined;
  readonly spoken: SpokenAnswers;
}

/** How often a disk that refused is asked again. */
const COMMIT_AGAIN_MS = 1_000;

/**
 * Resolves with the milliseconds after which it is tried again; undefined: it is over. What can't be written is held until
 * the disk takes it, because a delivery that was sent must not be sent again; aborting `signal` gives that up.
 */
export async function settle(
  parts: SettleParts,
  delivery: Delivery,
  outcome: Exclude<Outcome, { state: "unknown" }>,
  maxAttempts: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (outcome.state === "sent") return settleSent(parts, delivery, outcome.receipt, signal);
  const { code, retryAfterMs } = outcome;
  const attempts = delivery.attempts + 1;
  const isSpeech = isSpoken(delivery);
  if (isSpeech && (FINAL.has(code) || code === "SPEECH_FAILED" || attempts >= maxAttempts)) {
    return settleUnspoken(parts, delivery, code, signal);
  }
  if (FINAL.has(code) || attempts >= maxAttempts) return settleDead(parts, delivery, code, 1, signal);
  const { store, clock, random } = parts;
  const waitMs = restMs(attempts, retryAfterMs, random());
  const noted = await commit(parts, delivery, () => store.outbox.retry(delivery.n, code, clock.now() + waitMs), signal);
  return noted === "noted" ? waitMs : undefined;
}

/** Another attempt would end the same way. */
const FINAL: ReadonlySet<ErrorCode> = new Set(["DELIVERY_REFUSED", "DELIVERY_FILE_CHANGED"]);

/** Its text is there, or is a dead letter of its own: nobody misses a word. */
async function settleUnspoken(
  parts: SettleParts,
  delivery: Delivery,
  code: ErrorCode,
  signal: AbortSignal,
): Promise<undefined> {
  const noted = await commit(parts, delivery, () => parts.store.outbox.drop(delivery.n), signal);
  if (noted !== "noted") return;
  parts.spoken.forget(delivery.n);
  const { channel } = delivery.conversation;
  parts.log.warn("an answer could not be sent as speech; its text was", {
    messageId: mailIdOf(delivery),
    channel,
    code,
  });
}

async function settleSent(
  parts: SettleParts,
  delivery: Delivery,
  receipt: Receipt,
  signal: AbortSignal,
): Promise<undefined> {
  const { store, clock, log, publish, prompts, spoken } = parts;
  const { n, conversation, turnId, attempts, approval } = delivery;
  const messageId = mailIdOf(delivery);
  spoken.forget(n);
  const sent = (): boolean => {
    const wasWaiting = store.outbox.sent(n, receipt.platformId, clock.now());
    if (wasWaiting && approval !== undefined) prompts?.posted(approval, n, receipt);
    return wasWaiting;
  };
  const noted = await commit(parts, delivery, sent, signal);
  if (noted === "noted") {
    publish({ type: "message-delivered", messageId, conversation, turnId, attempts: attempts + 1 });
  } else if (noted === "given up") {
    const { channel } = conversation;
    log.error("a message was sent and that could not be kept; the next start sends it again", { messageId, channel });
  }
}

/** A dead letter, because of an attempt that failed or, as it kills the process, without one. As `settle`. */
export async function settleDead(
  parts: SettleParts,
  delivery: Delivery,
  code: ErrorCode,
  failedAttempts: 0 | 1,
  signal: AbortSignal,
): Promise<undefined> {
  const { store, clock, log, publish } = parts;
  const { n, conversation, turnId } = delivery;
  const noted = await commit(parts, delivery, () => store.outbox.dead(n, code, clock.now(), failedAttempts), signal);
  if (noted !== "noted") return;
  const messageId = mailIdOf(delivery);
  // Neither what was to be said nor what the platform answered: both are other people's words.
  const attempts = delivery.attempts + failedAttempts;
  log.warn("a message could not be delivered", { messageId, channel: conversation.channel, code, attempts });
  publish({ type: "message-failed", messageId, conversation, turnId, code });
}

/** A question that nobody waits for the answer of. As `settle`. */
export async function settleMoot(parts: SettleParts, delivery: Delivery, signal: AbortSignal): Promise<undefined> {
  await commit(parts, delivery, () => parts.store.outbox.drop(delivery.n), signal);
}

/** `gone`: it was dropped meanwhile, and stays so. */
async function commit(
  { store, clock, log }: SettleParts,
  delivery: Delivery,
  change: () => boolean,
  signal: AbortSignal,
): Promise<"noted" | "gone" | "given up"> {
  for (let isFirst = true; ; isFirst = false) {
    // Seen before the try: who gives up still tries once more.
    const isLast = signal.aborted;
    try {
      return (await store.write(change)) ? "noted" : "gone";
    } catch (error) {
      if (isLast) return "given up";
      const messageId = mailIdOf(delivery);
      if (isFirst) log.error("what became of a message can't be kept yet", { messageId, error: String(error) });
      await clock.sleep(COMMIT_AGAIN_MS, signal).catch(() => undefined);
    }
  }
}

export const mailIdOf = ({ n }: Pick<Delivery, "n">): string => `out-${n}`;
