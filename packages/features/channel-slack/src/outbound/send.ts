/**
 * Sending. A text is a message, files are another, and a retry goes on where the last try stopped, so that nobody reads the
 * beginning twice.
 */
import { type Channel, type OutgoingMessage, SvcError } from "@svc/contract";
import type { SentPartsOf } from "@svc/kit";
import { conversationId } from "../ids.ts";
import { mrkdwnOf } from "../markdown/mrkdwn.ts";
import { type Outbox, post } from "./message.ts";
import { threadOf } from "./place.ts";
import type { Uploads } from "./uploads.ts";

/** What the platform recommends for a message; it would cut it at 40 000. */
export const TEXT_CHARS = 4_000;

export function messageSender(outbox: Outbox, uploads: Uploads, sentParts: SentPartsOf): Channel["send"] {
  return async (message, signal) => {
    signal.throwIfAborted();
    const { conversation, text, files = [] } = message;
    if (files.length === 0) return (await post(outbox, conversation, { text: mrkdwnOf(text) }, signal)).receipt;
    return sendWithFiles(outbox, uploads, await sentParts(message.deliveryId), message, signal);
  };
}

async function sendWithFiles(
  outbox: Outbox,
  uploads: Uploads,
  sent: Awaited<ReturnType<SentPartsOf>>,
  { conversation, text, files = [] }: OutgoingMessage,
  signal: AbortSignal,
): ReturnType<Channel["send"]> {
  // All of them before anything is to be seen: a try that fails here has sent nothing.
  const { uploaded, refusal } = await uploads.upload(sent.has("files") ? [] : files, signal);
  let receipt: Awaited<ReturnType<Channel["send"]>> =
    sent.platformId === undefined ? {} : { platformId: sent.platformId };
  let place: string | undefined;
  if (text.trim() !== "" && !sent.has("text")) {
    ({ receipt, place } = await post(outbox, conversation, { text: mrkdwnOf(text) }, signal));
    await sent.add("text", receipt.platformId);
  }
  if (uploaded.length > 0) {
    place ??= await outbox.places.of(conversation, signal);
    if (conversationId(place) === undefined) {
      throw new SvcError("DELIVERY_REFUSED", "Files can't be sent to a channel by its name.", {
        hint: "Use the channel's id (C…), from its details.",
      });
    }
    await uploads.share(uploaded, { place, thread: threadOf(conversation) }, signal);
    if (refusal !== undefined) await sent.add("files", undefined);
  }
  if (refusal !== undefined) throw refusal;
  sent.end();
  return receipt;
}
