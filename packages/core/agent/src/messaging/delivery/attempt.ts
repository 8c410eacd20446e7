/** One try to send one delivery. */
import { type Channel, type Clock, type ErrorCode, type OutgoingMessage, type Receipt, SvcError } from "@svc/contract";
import type { Delivery } from "@svc/store";
import { within } from "../within.ts";
import type { FileOpener } from "./outgoing-file.ts";

/** `unknown`: it was called off from outside, and stays as it is. */
export type Outcome =
  | { readonly state: "sent"; readonly platformId: string | undefined }
  | { readonly state: "failed"; readonly code: ErrorCode; readonly retryAfterMs: number | undefined }
  | { readonly state: "unknown" };

export interface AttemptParts {
  readonly clock: Clock;
  readonly openFile: FileOpener;
  /** Told of what is no `SvcError`, which no channel should throw. */
  readonly onUnexpected: (error: unknown) => void;
}

/** A platform that has said nothing for so long has lost it; the next try is another connection. */
const LIMIT_MS = 60_000;

/** Never rejects, and ends when `called` off or out of time, whether the channel listens or not. */
export async function attempt(
  parts: AttemptParts,
  channel: Channel,
  delivery: Delivery,
  called: AbortSignal,
): Promise<Outcome> {
  const limit = new AbortController();
  const signal = AbortSignal.any([called, limit.signal]);
  const cancel = parts.clock.after(LIMIT_MS, () => limit.abort(new SvcError("REMOTE_TIMEOUT")));
  try {
    const { platformId } = await within(signal, () => send(parts.openFile, channel, delivery, signal));
    return { state: "sent", platformId };
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

async function send(
  openFile: FileOpener,
  channel: Channel,
  { conversation, text, files, deliveryId, replyData }: Delivery,
  signal: AbortSignal,
): Promise<Receipt> {
  const maxBytes = channel.media?.maxBytes ?? 0;
  const opened = await Promise.all(files.map((file) => openFile(file, maxBytes)));
  signal.throwIfAborted();
  const message: OutgoingMessage = {
    conversation,
    text,
    deliveryId,
    ...(opened.length > 0 && { files: opened }),
    ...(replyData !== undefined && { replyData }),
  };
  return channel.send(message, signal);
}
