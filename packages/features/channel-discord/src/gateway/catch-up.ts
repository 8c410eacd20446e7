/**
 * What was written while nobody was connected, from the history of each channel.
 * https://docs.discord.com/developers/resources/message#get-channel-messages
 */
import { type FeatureContext, SvcError } from "@svc/contract";
import { retry } from "@svc/kit";
import { type Fields, fieldsOf, listOf } from "../api/fields.ts";
import type { Rest, RestRequest } from "../api/rest.ts";
import { idOf, isLater, laterOf } from "../api/snowflake.ts";

export interface History {
  /** Those with the latest messages first. */
  readonly channels: readonly string[];
  /** What is not later than this is known. */
  readonly since: string;
}

const PAGE = 100;
/** Of one channel; who wrote more there did not wait for an answer to each. */
const MOST_PAGES = 10;
const MOST_CHANNELS = 100;
const TRIES = 4;
const BACKOFF = { firstMs: 2_000, longestMs: 60_000 };
const FINAL: ReadonlySet<string> = new Set(["CHANNEL_UNAUTHORIZED", "DELIVERY_REFUSED"]);

/** Hands over each channel's messages, oldest first. Throws REMOTE_*, CHANNEL_UNAUTHORIZED. */
export async function catchUp(
  rest: Rest,
  { clock, log }: Pick<FeatureContext, "clock" | "log">,
  { channels, since }: History,
  take: (message: Fields) => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  let cutOff = Math.max(0, channels.length - MOST_CHANNELS);
  for (const channelId of channels.slice(0, MOST_CHANNELS)) {
    let after = since;
    for (let pages = 1; ; pages += 1) {
      const request = { path: `channels/${channelId}/messages`, query: { after, limit: String(PAGE) } };
      const page = pageOf(await patiently(rest, request, clock, signal), after);
      for (const message of page) await take(message);
      after = page.reduce((latest, { id }) => laterOf(latest, id as string), after);
      if (page.length < PAGE) break;
      if (pages === MOST_PAGES) {
        cutOff += 1;
        break;
      }
    }
  }
  if (cutOff > 0)
    log.warn("more was written meanwhile than is read; mention the bot again there", { channels: cutOff });
}

/**
 * Channels and threads of a server in which something was written since then, and the latest of it.
 * https://docs.discord.com/developers/events/gateway-events#guild-create
 */
export function unreadOf(guild: Fields, since: string): History & { readonly latest: string | undefined } {
  const unread = [...listOf(guild["channels"]), ...listOf(guild["threads"])]
    .map(fieldsOf)
    .flatMap(({ id, last_message_id: last }) => {
      const [channelId, lastId] = [idOf(id), idOf(last)];
      return channelId !== undefined && lastId !== undefined && isLater(lastId, since) ? [{ channelId, lastId }] : [];
    })
    .toSorted((a, b) => (isLater(b.lastId, a.lastId) ? 1 : -1));
  return { channels: unread.map(({ channelId }) => channelId), since, latest: unread[0]?.lastId };
}

/** The platform gives them newest first. Undefined: what the bot may not read any more. */
function pageOf(json: unknown, after: string): Fields[] {
  const isNew = ({ id }: Fields): boolean => {
    const known = idOf(id);
    return known !== undefined && isLater(known, after);
  };
  const messages = listOf(json).map(fieldsOf).filter(isNew);
  return messages.toSorted((a, b) => (isLater(a["id"] as string, b["id"] as string) ? 1 : -1));
}

async function patiently(
  rest: Rest,
  request: RestRequest,
  clock: FeatureContext["clock"],
  signal: AbortSignal,
): Promise<unknown> {
  const onFailure = (error: unknown, retryInMs: number): void => {
    const isFinal = !(error instanceof SvcError) || FINAL.has(error.code);
    if (isFinal || retryInMs > BACKOFF.longestMs) throw error;
  };
  try {
    return await retry(() => rest.call(request, signal), { ...BACKOFF, maxTries: TRIES, clock, signal, onFailure });
  } catch (error) {
    // Deleted, or nothing that the bot may see.
    if (error instanceof SvcError && error.code === "DELIVERY_REFUSED") return undefined;
    throw error;
  }
}
