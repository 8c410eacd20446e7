/**
 * One message on its way out, and what the platform answers to it. There is no key by which it would know one that is sent again:
 * https://docs.slack.dev/reference/methods/chat.postMessage documents none.
 */
import type { Conversation, Json, Receipt } from "@svc/contract";
import type { WebApi } from "../api/web-api.ts";
import type { Config } from "../config.ts";
import { CHANNEL, conversationId, messageIdOf, timestamp } from "../ids.ts";
import type { Threads } from "../threads.ts";
import { type Places, threadOf } from "./place.ts";

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
      // The platform fetches what it unfurls at once: a URL that a page has talked the model into would be out unclicked.
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
