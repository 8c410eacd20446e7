/** What the list draws: conversations under the day of their last message, each with its place from the top. */
import type { Conversation } from "../../api/shapes.ts";
import { dates, t } from "../../texts/texts.ts";

export type ListRow = { readonly top: number; readonly height: number } & (
  | { readonly kind: "head"; readonly key: string; readonly text: string }
  | { readonly kind: "chat"; readonly key: string; readonly chat: Conversation }
);

/** Pixels; the style sheet has the same. */
const HEAD_PX = 30;
const CHAT_PX = 60;
/** Rows rendered above and below the visible ones. */
const SPARE_PX = 480;

export function listRows(chats: readonly Conversation[], nowMs: number): ListRow[] {
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

/** The rows to draw while `scrollTop` to `scrollTop + height` is in sight. */
export function rowsInSight(rows: readonly ListRow[], scrollTop: number, height: number): readonly ListRow[] {
  const from = firstEndingAfter(rows, scrollTop - SPARE_PX);
  const to = firstEndingAfter(rows, scrollTop + height + SPARE_PX);
  return rows.slice(from, to + 1);
}

/** Rows are in order: of ten thousand, fourteen are looked at. */
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
