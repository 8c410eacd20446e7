/**
 * Sending. A text is a message, files are another, and a retry goes on where the last try stopped, so that no one reads the
 * beginning twice.
 */
import {
  type Channel,
  type Conversation,
  type Json,
  type OutgoingMessage,
  type Receipt,
  SvcError,
} from "@svc/contract";
import type { SentPartsOf } from "@svc/kit";
import type { Config } from "./config.ts";
import type { Threads } from "./events.ts";
import type { Uploads } from "./files.ts";
import { mrkdwnOf } from "./markdown.ts";
import { CHANNEL, conversationId, fieldsOf, messageIdOf, timestamp, userId } from "./protocol.ts";
import type { WebApi } from "./web-api.ts";

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

/**
 * One message on its way out, and what the platform answers to it. There is no key by which it would know one that is sent again:
 * https://docs.slack.dev/reference/methods/chat.postMessage documents none.
 */
export interface Outbox {
  readonly api: WebApi;
  readonly places: Places;
  readonly threads: Threads;
  readonly config: Pick<Config, "thread_replies">;
}

export interface Posted {
  readonly receipt: Receipt;
  /** Id of the conversation; undefined where the platform did not tell. */
  readonly place: string | undefined;
}

/** `content`: `text` in the platform's markup, and `blocks` where there are any. */
export async function post(
  { api, places, threads, config }: Outbox,
  conversation: Conversation,
  content: Readonly<Record<string, Json>>,
  signal: AbortSignal,
): Promise<Posted> {
  const thread = threadOf(conversation);
  const place = await places.of(conversation, signal);
  const answer = await api.call(
    "chat.postMessage",
    {
      channel: place,
      ...content,
      ...(thread !== undefined && { thread_ts: thread }),
      // No unfurling: the platform fetches links at once, so a URL from an injected prompt would leak data without a click.
      unfurl_links: false,
      unfurl_media: false,
      ...LITERAL,
    },
    signal,
  );
  const channel = conversationId(answer["channel"]) ?? conversationId(place);
  const ts = timestamp(answer["ts"]);
  // An answer without a usable id is an acceptance all the same.
  if (channel === undefined || ts === undefined) return { receipt: {}, place: channel };
  const opens = thread ?? (config.thread_replies && !channel.startsWith("D") ? ts : undefined);
  if (opens !== undefined && !channel.startsWith("D")) threads.add({ channel, ts: opens });
  const answersIn: Conversation = { channel: CHANNEL, id: channel, ...(opens !== undefined && { thread: opens }) };
  const isElsewhere = channel !== conversation.id || opens !== conversation.thread;
  return {
    receipt: { platformId: messageIdOf({ channel, ts }), ...(isElsewhere && { opened: answersIn }) },
    place: channel,
  };
}

/** Names and words that look like mentions or links stay words. */
export const LITERAL = { parse: "none", link_names: false } as const;

/** Where a message goes, as the platform wants to be told. */
interface Places {
  /**
   * The conversation's id; of a person's the direct messages, which are opened; of a channel's name the name. Throws
   * DELIVERY_REFUSED for what is none of these, and as `WebApi`.
   */
  of(conversation: Conversation, signal: AbortSignal): Promise<string>;
}

export function placesOf(api: WebApi): Places {
  /** By person. It never changes. */
  const opened = new Map<string, string>();
  return {
    async of({ id }, signal) {
      const user = userId(id);
      if (user === undefined) return placeNamed(id);
      const known = opened.get(user);
      if (known !== undefined) return known;
      const { channel } = await api.call("conversations.open", { users: user }, signal);
      const found = conversationId(fieldsOf(channel)["id"]);
      if (found === undefined)
        throw new SvcError("DELIVERY_FAILED", "Slack opened a conversation and told no id of it.");
      for (const oldest of opened.keys()) if (opened.size >= MOST_OPENED) opened.delete(oldest);
      opened.set(user, found);
      return found;
    },
  };
}

const MOST_OPENED = 5_000;

function placeNamed(id: string): string {
  if (conversationId(id) !== undefined) return id;
  if (/^#?[\p{L}\p{N}][\p{L}\p{N}._-]{0,79}$/u.test(id) && id === id.toLowerCase()) return `#${id.replace(/^#/, "")}`;
  throw new SvcError("DELIVERY_REFUSED", "This is no conversation, person or channel of Slack's.", {
    hint: "Copy the channel's id (C…) from its details, or the person's (U…) from the profile.",
  });
}

/** The thread of a conversation. Throws DELIVERY_REFUSED for an invalid thread id. */
function threadOf({ thread }: Conversation): string | undefined {
  if (thread === undefined || timestamp(thread) !== undefined) return thread;
  throw new SvcError("DELIVERY_REFUSED", "This is no thread of Slack's.");
}
