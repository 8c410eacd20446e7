/** One try to send one delivery. */
import {
  DEFAULT_MAX_CHARS,
  type Channel,
  type Clock,
  type ErrorCode,
  type OutgoingMessage,
  type Prompt,
  type Receipt,
  SvcError,
} from "@svc/contract";
import type { Delivery } from "@svc/store";
import { within } from "../within.ts";
import { mayOpen } from "./may-open.ts";
import type { FileOpener } from "./outgoing-file.ts";
import { sendOrEdit } from "./send-or-edit.ts";
import { shortened } from "./shortened.ts";
import { isSpoken, type SpokenAnswers } from "./spoken-file.ts";

/** `unknown`: it was called off from outside, and stays as it is. */
export type Outcome =
  | { readonly state: "sent"; readonly receipt: Receipt }
  | { readonly state: "failed"; readonly code: ErrorCode; readonly retryAfterMs: number | undefined }
  | { readonly state: "unknown" };

export interface AttemptParts {
  readonly clock: Clock;
  readonly openFile: FileOpener;
  readonly spoken: SpokenAnswers;
  /** Told of what is no `SvcError`, which no channel should throw. */
  readonly onUnexpected: (error: unknown) => void;
}

/** A platform that has said nothing for so long has lost it; the next try is another connection. */
const LIMIT_MS = 60_000;
/** Of one that is spoken first. */
const SPOKEN_LIMIT_MS = 240_000;

/** `prompt`: what the delivery asks. Never rejects, and ends when `called` off or out of time, whether the channel listens or not. */
export async function attempt(
  parts: AttemptParts,
  channel: Channel,
  delivery: Delivery,
  prompt: Prompt | undefined,
  called: AbortSignal,
): Promise<Outcome> {
  const limit = new AbortController();
  const signal = AbortSignal.any([called, limit.signal]);
  const limitMs = isSpoken(delivery) ? SPOKEN_LIMIT_MS : LIMIT_MS;
  const cancel = parts.clock.after(limitMs, () => limit.abort(new SvcError("REMOTE_TIMEOUT")));
  try {
    const receipt = await within(signal, async () => {
      const message = await messageOf(parts, channel, delivery, signal);
      signal.throwIfAborted();
      if (prompt && channel.prompts) return channel.prompts.post(message, prompt, signal);
      return sendOrEdit(channel, message, delivery.draft, signal);
    });
    return { state: "sent", receipt };
  } catch (error) {
    if (called.aborted) return { state: "unknown" };
    // What a channel makes of being aborted does not matter.
    const reason: unknown = limit.signal.aborted ? limit.signal.reason : error;
    if (reason instanceof SvcError) return { state: "failed", code: reason.code, retryAfterMs: reason.retryAfterMs };
    parts.onUnexpected(reason);
    return { state: "failed", code: "DELIVERY_FAILED", retryAfterMs: undefined };
  } finally {
    cancel();
  }
}

async function messageOf(
  { openFile, spoken }: AttemptParts,
  channel: Channel,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<OutgoingMessage> {
  const { conversation, text, files, deliveryId, replyData, approval } = delivery;
  const maxBytes = channel.media?.maxBytes ?? 0;
  const opened = await Promise.all(
    files.map((file) =>
      file.speak === undefined ? openFile(file, maxBytes) : spoken.fileOf(delivery.n, file, channel.media, signal),
    ),
  );
  return {
    conversation,
    // Whoever asks knows of no channel's limits, and a question in two parts would be asked twice.
    text: approval === undefined ? text : shortened(text, channel.text?.maxChars ?? DEFAULT_MAX_CHARS),
    deliveryId,
    ...(opened.length > 0 && { files: opened }),
    ...(replyData !== undefined && { replyData }),
    ...(mayOpen(delivery) && { mayOpen: true }),
  };
}
