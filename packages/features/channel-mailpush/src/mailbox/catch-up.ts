/**
 * What came since the newest mail that was read, where the history is not kept that far back (a week, sometimes hours).
 * Never what is older than that mail: it was answered, or is older than this channel.
 */
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import type { MailApi } from "../api/mail-api.ts";
import type { Place } from "./place.ts";

export interface Missed {
  /** Oldest first. */
  readonly ids: readonly string[];
  /** Mail that came too long ago to be answered now. */
  readonly skipped: number;
  /** Nothing that came before is to be read. */
  readonly notBeforeMs: number;
}

/** Less than message ids are remembered, so that what was answered is not answered again. */
const LONGEST_MS = 604_800_000;
/** A mailbox with more unread mail than this has other troubles. */
const MAX_PAGES = 40;

export async function missedSince(
  api: MailApi,
  { newestMs }: Place,
  labelIds: readonly string[],
  nowMs: number,
  signal: AbortSignal,
): Promise<Missed> {
  const fromMs = Math.max(newestMs, nowMs - LONGEST_MS);
  const ids = await listed(api, `after:${seconds(fromMs)}`, labelIds, signal);
  const tooOld = `after:${seconds(newestMs + 1000)} before:${seconds(fromMs)}`;
  const skipped = fromMs > newestMs ? await listed(api, tooOld, labelIds, signal) : [];
  return { ids: ids.toReversed(), skipped: skipped.length, notBeforeMs: Math.floor(fromMs / 1000) * 1000 };
}

/** The search knows seconds; of the second itself what was read before is known by its id. */
const seconds = (ms: number): string => String(Math.floor(ms / 1000));

const answer = v.object({
  messages: v.optional(v.array(v.object({ id: v.string() })), []),
  nextPageToken: v.optional(v.string()),
});

/** Newest first. With several labels, mail that has any of them: the platform lists only what has all. */
async function listed(api: MailApi, q: string, labelIds: readonly string[], signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  let pageToken: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query = { q, maxResults: "500", pageToken, ...(labelIds.length === 1 && { labelIds }) };
    const page = v.safeParse(answer, (await api.call({ path: "messages", query }, signal)).json);
    if (!page.success) throw new SvcError("REMOTE_UNREACHABLE", "The mailbox's messages can't be listed.");
    ids.push(...page.output.messages.map(({ id }) => id));
    pageToken = page.output.nextPageToken;
    if (pageToken === undefined) break;
  }
  return ids;
}
