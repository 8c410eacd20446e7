/**
 * Questions with two buttons. On a server each opens a thread, in which it can be talked about and answered by a word.
 * https://docs.discord.com/developers/resources/channel#start-thread-from-message
 */
import type { Channel, Conversation, OutgoingMessage, Prompt, Prompts } from "@svc/contract";
import { TEXT_CHARS } from "./format.ts";
import { buttonsOf } from "./interactions.ts";
import type { Places } from "./places.ts";
import { fieldsOf, idOf } from "./protocol.ts";
import { HAS_A_THREAD, type Rest } from "./rest.ts";
import { messageId, once, receiptOf, saying, sentId } from "./send.ts";

const THREAD_NAME_CHARS = 100;
/** A day without a word: longer than anything waits for an answer. */
const ARCHIVED_AFTER_MINUTES = 1_440;

/** `send`: for a question without room for buttons. */
export function promptPoster(rest: Rest, places: Places, send: Channel["send"]): Prompts {
  return {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      const components = buttonsOf(prompt);
      if (components === undefined || message.text.length > TEXT_CHARS) return send(message, signal);
      const { channelId, opened } = await places.find(message.conversation, signal);
      // Before anything is to be seen.
      const hasThreads = await places.hasThreads(channelId, signal);
      // The words, with who asks and by which number: there is nothing else around a title that a stranger may have chosen.
      const json = { ...saying(message.text), ...once(message.deliveryId), components };
      const id = messageId(await rest.call({ path: `channels/${channelId}/messages`, json }, signal));
      const thread = hasThreads ? await openThread(rest, channelId, id, message, prompt, signal) : undefined;
      return receiptOf(id, thread ?? opened);
    },
    async close({ conversation, platformId, text }, outcome, signal) {
      signal.throwIfAborted();
      if (platformId === undefined) return;
      const id = sentId(platformId);
      const { channelId } = await places.find(conversation, signal);
      const end = shortened(outcome, TEXT_CHARS / 2);
      const json = { ...saying(`${shortened(text, TEXT_CHARS - end.length - 2)}\n\n${end}`), components: [] };
      await rest.call({ method: "PATCH", path: `channels/${channelId}/messages/${id}`, json }, signal);
    },
  };
}

/** Undefined: the bot may open none, and the question can be answered where it is. Posted again, it has one. */
async function openThread(
  rest: Rest,
  channelId: string,
  id: string,
  { conversation }: OutgoingMessage,
  { title }: Prompt,
  signal: AbortSignal,
): Promise<Conversation | undefined> {
  const name = shortened(title.replaceAll(/\s+/g, " ").trim(), THREAD_NAME_CHARS) || "Question";
  const json = { name, auto_archive_duration: ARCHIVED_AFTER_MINUTES };
  const outcome = await rest.attempt({ path: `channels/${channelId}/messages/${id}/threads`, json }, signal);
  if (!("error" in outcome)) {
    const threadId = idOf(fieldsOf(outcome.json)["id"]);
    return threadId === undefined ? undefined : { channel: conversation.channel, id: threadId };
  }
  // A thread has the id of the message that it began with.
  if (outcome.code === HAS_A_THREAD) return { channel: conversation.channel, id };
  if (outcome.error.code === "DELIVERY_REFUSED") return undefined;
  throw outcome.error;
}

const shortened = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
