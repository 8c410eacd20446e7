/** A message on its way out: in place of the beginning of it that people see already, or anew. */
import { type Channel, type OutgoingMessage, type Receipt, SvcError } from "@svc/contract";

/** `draft`: the platform's id of that beginning. Throws as `Channel.send`. */
export async function sendOrEdit(
  channel: Channel,
  message: OutgoingMessage,
  draft: string | undefined,
  signal: AbortSignal,
): Promise<Receipt> {
  const { drafts } = channel;
  if (draft === undefined || !drafts) return channel.send(message, signal);
  const { conversation, text, replyData } = message;
  try {
    const sent = { conversation, platformId: draft, ...(replyData !== undefined && { replyData }) };
    await drafts.edit(sent, text, signal);
    return { platformId: draft };
  } catch (error) {
    // It is gone, or can't be edited any more.
    if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
    signal.throwIfAborted();
    return channel.send(message, signal);
  }
}
