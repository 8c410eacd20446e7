/**
 * What was written in a conversation, from the platform's history.
 * https://docs.slack.dev/reference/methods/conversations.history, https://docs.slack.dev/reference/methods/conversations.replies
 */
import { SvcError, type Json } from "@svc/contract";
import type { WebApi } from "../api/web-api.ts";
import { type Fields, fieldsOf, textOf } from "../fields.ts";
import { timestamp } from "../ids.ts";

export interface Written {
  /** Oldest first. */
  readonly messages: readonly Fields[];
  /** There was more than is looked at. */
  readonly isCut: boolean;
}

const PAGE = 200;
/** Of one conversation, and of one thread. */
const MOST_PAGES = 3;

/** After `oldest`, without replies. Throws as `WebApi`. */
export const historyOf = (api: WebApi, channel: string, oldest: string, signal: AbortSignal): Promise<Written> =>
  pagesOf(api, "conversations.history", { channel, oldest, limit: PAGE }, signal);

export const repliesOf = (
  api: WebApi,
  channel: string,
  thread: string,
  oldest: string,
  signal: AbortSignal,
): Promise<Written> => pagesOf(api, "conversations.replies", { channel, ts: thread, oldest, limit: PAGE }, signal);

async function pagesOf(
  api: WebApi,
  method: string,
  args: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
): Promise<Written> {
  const messages: Fields[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await api.call(method, { ...args, ...(cursor !== undefined && { cursor }) }, signal);
    messages.push(...readList(answer["messages"]));
    cursor = textOf(fieldsOf(answer["response_metadata"])["next_cursor"]);
    if (cursor === undefined) break;
  }
  const dated = messages.filter(({ ts }) => timestamp(ts) !== undefined);
  return {
    messages: dated.toSorted((one, other) => (String(one["ts"]) < String(other["ts"]) ? -1 : 1)),
    isCut: cursor !== undefined,
  };
}

export interface KnownConversation {
  readonly id: string;
  readonly kind: "im" | "mpim" | "channel";
}

const MOST_CONVERSATIONS = 200;

/** Those that the bot is in; direct messages first. Throws as `WebApi`. */
export async function conversationsOf(
  api: WebApi,
  signal: AbortSignal,
): Promise<{ list: KnownConversation[]; isCut: boolean }> {
  const list: KnownConversation[] = [];
  let cursor: string | undefined;
  do {
    const args = { types: "im,mpim,private_channel,public_channel", exclude_archived: true, limit: PAGE };
    const answer = await api.call("users.conversations", { ...args, ...(cursor !== undefined && { cursor }) }, signal);
    for (const { id, is_im: isIm, is_mpim: isMpim } of readList(answer["channels"])) {
      if (typeof id === "string") list.push({ id, kind: isIm === true ? "im" : isMpim === true ? "mpim" : "channel" });
    }
    cursor = textOf(fieldsOf(answer["response_metadata"])["next_cursor"]);
  } while (cursor !== undefined && list.length < 5 * MOST_CONVERSATIONS);
  const byKind = list.toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));
  return {
    list: byKind.slice(0, MOST_CONVERSATIONS),
    isCut: byKind.length > MOST_CONVERSATIONS || cursor !== undefined,
  };
}

const ORDER = ["im", "mpim", "channel"];

/** An answer without its list is none: nothing would be missed that way, and nothing found. */
function readList(value: Json | undefined): Fields[] {
  if (!Array.isArray(value)) throw new SvcError("DELIVERY_FAILED", "The platform's answer can't be read.");
  return value.map(fieldsOf);
}
