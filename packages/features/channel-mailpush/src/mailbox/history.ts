/** `users.history.list`: which mail came since a history id, page by page, oldest first. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import { historyIdSchema } from "../api/history-id.ts";
import type { MailApi } from "../api/mail-api.ts";

export interface HistoryPage {
  /** Ids of mail that came, each once. */
  readonly added: readonly string[];
  /** Up to where this page goes. */
  readonly upTo: string;
}

const answer = v.object({
  history: v.optional(
    v.array(
      v.object({
        id: historyIdSchema,
        messagesAdded: v.fallback(v.array(v.object({ message: v.object({ id: v.string() }) })), []),
      }),
    ),
    [],
  ),
  nextPageToken: v.optional(v.string()),
  historyId: v.optional(historyIdSchema),
});

/** The largest that the platform gives. */
const PAGE = "500";

/** Ends without a page where the history is not kept as far back any more. Returns whether all of it was told. */
export async function* historySince(
  api: MailApi,
  start: string,
  labelIds: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<HistoryPage, boolean> {
  /** What comes while the pages are read is after the first page's end; it is read the next time. */
  let end: string | undefined;
  let pageToken: string | undefined;
  do {
    const query = {
      startHistoryId: start,
      historyTypes: "messageAdded",
      maxResults: PAGE,
      // The platform takes one label only; with several, all are read and the others left out later.
      labelId: labelIds.length === 1 ? labelIds[0] : undefined,
      pageToken,
    };
    const { status, json } = await api.call({ path: "history", query, answers: [404], maxBytes: MAX_BYTES }, signal);
    if (status === 404) return false;
    const page = v.safeParse(answer, json);
    if (!page.success) throw new SvcError("REMOTE_UNREACHABLE", "The mailbox's history can't be read.");
    const { history, nextPageToken } = page.output;
    end ??= page.output.historyId ?? history.at(-1)?.id ?? start;
    const added = history.flatMap(({ messagesAdded }) => messagesAdded.map(({ message }) => message.id));
    const upTo = nextPageToken === undefined ? end : (history.at(-1)?.id ?? start);
    yield { added: [...new Set(added)], upTo };
    pageToken = nextPageToken;
  } while (pageToken !== undefined);
  return true;
}

/** 500 records with everything that the platform repeats in them. */
const MAX_BYTES = 8_388_608;
