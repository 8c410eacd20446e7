/**
 * The list of conversations, loaded page by page. Only the first page becomes stale; rows further down stay until they appear in it
 * again.
 */
import type { Session, SessionList } from "@svc/api";
import type { Api } from "../../client/api.ts";
import { Cell } from "../../cell.ts";
import { type Loaded, Reader } from "../../state/reader.ts";
import { dates, t } from "../../texts/texts.ts";

/** Size of the first page, and the API's maximum. */
const FIRST = 50;
const MOST = 200;

export class ChatList {
  readonly rows = new Cell<SessionList | undefined>(undefined);
  readonly #api: Pick<Api, "get">;
  readonly #archived: boolean;
  readonly #top: Reader<SessionList>;
  #isReadingMore = false;

  constructor(api: Pick<Api, "get">, archived: boolean) {
    this.#api = api;
    this.#archived = archived;
    this.#top = new Reader((signal) => this.#read(this.#shownCount(), undefined, signal));
    this.#top.state.follow(() => {
      const { data, isReading } = this.#top.state.value;
      if (data !== undefined && !isReading) this.rows.set(withTop(this.rows.value, data));
    });
  }

  get state(): Cell<Loaded<SessionList>> {
    return this.#top.state;
  }

  refresh(): Promise<void> {
    return this.#top.refresh();
  }

  stale(): void {
    this.#top.stale();
  }

  stop(): void {
    this.#top.stop();
  }

  /** Reads the next page, if there is one. Never rejects: scrolling tries again. */
  async more(): Promise<void> {
    const before = this.rows.value?.before;
    if (this.#isReadingMore || before === undefined || before === null) return;
    this.#isReadingMore = true;
    try {
      const page = await this.#read(MOST, before);
      const shown = this.rows.value;
      // The first page may have been read again meanwhile and end at another cursor.
      if (shown?.before === before) this.rows.set(withMore(shown, page));
    } catch {
      // The connection banner shows the error.
    } finally {
      this.#isReadingMore = false;
    }
  }

  #shownCount(): number {
    return Math.max(FIRST, Math.min(MOST, this.rows.value?.sessions.length ?? 0));
  }

  #read(limit: number, before: string | undefined, signal?: AbortSignal): Promise<SessionList> {
    return this.#api.get("/api/sessions", { limit, before, archived: this.#archived ? "true" : undefined }, signal);
  }
}

/** Merges a new first page: its rows appear there and nowhere else. */
export function withTop(shown: SessionList | undefined, top: SessionList): SessionList {
  if (shown === undefined || top.before === null) return top;
  const ids = new Set(top.sessions.map(({ id }) => id));
  // Rows that are missing in the new first page were removed, archived, or moved further down.
  const below = shown.sessions.slice(top.sessions.length).filter(({ id }) => !ids.has(id));
  return below.length === 0 ? top : { sessions: [...top.sessions, ...below], before: shown.before };
}

export function withMore(shown: SessionList, page: SessionList): SessionList {
  const ids = new Set(shown.sessions.map(({ id }) => id));
  return { sessions: [...shown.sessions, ...page.sessions.filter(({ id }) => !ids.has(id))], before: page.before };
}

/** Rows of the list: conversations by the day of their last message, with their offset from the top. */
type ListRow = { readonly top: number; readonly height: number } & (
  | { readonly kind: "head"; readonly key: string; readonly text: string }
  | { readonly kind: "chat"; readonly key: string; readonly chat: Session }
);

/** In pixels; the style sheet has the same values. */
const HEAD_PX = 30;
const CHAT_PX = 60;
/** Rows rendered above and below the visible ones. */
const SPARE_PX = 480;

export function listRows(chats: readonly Session[], nowMs: number): ListRow[] {
  const rows: ListRow[] = [];
  let top = 0;
  let group: string | undefined;
  for (const chat of chats) {
    const text = chat.pinned ? t("chats.pinned-2") : dayOf(Date.parse(chat.updated_at), nowMs);
    if (text !== group) {
      rows.push({ kind: "head", key: `head ${text}`, text, top, height: HEAD_PX });
      top += HEAD_PX;
      group = text;
    }
    rows.push({ kind: "chat", key: chat.id, chat, top, height: CHAT_PX });
    top += CHAT_PX;
  }
  return rows;
}

export const heightOf = (rows: readonly ListRow[]): number => {
  const last = rows.at(-1);
  return last === undefined ? 0 : last.top + last.height;
};

/** The rows to render while `scrollTop` to `scrollTop + height` is visible. */
export function rowsInSight(rows: readonly ListRow[], scrollTop: number, height: number): readonly ListRow[] {
  const from = firstEndingAfter(rows, scrollTop - SPARE_PX);
  const to = firstEndingAfter(rows, scrollTop + height + SPARE_PX);
  return rows.slice(from, to + 1);
}

/** Binary search. */
function firstEndingAfter(rows: readonly ListRow[], y: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { top, height } = rows[middle]!;
    if (top + height > y) high = middle;
    else low = middle + 1;
  }
  return low;
}

const DAY_MS = 86_400_000;

function dayOf(atMs: number, nowMs: number): string {
  const today = new Date(nowMs);
  const midnightMs = new Date(today.getFullYear(), today.getMonth(), today.getDate()).getTime();
  if (atMs >= midnightMs) return t("chats.today");
  if (atMs >= midnightMs - DAY_MS) return t("chats.yesterday");
  if (atMs >= midnightMs - 6 * DAY_MS) return t("chats.this-week");
  if (atMs >= midnightMs - 29 * DAY_MS) return t("chats.this-month");
  return dates({ year: "numeric", month: "long" }).format(atMs);
}
