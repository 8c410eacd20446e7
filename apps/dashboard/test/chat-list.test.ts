// The chat list is read in pages while it changes: each row must appear once, in order, and only visible rows are rendered.
import type { Session, SessionList } from "@svc/api";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { brief } from "../src/texts/format.ts";
import { ChatList, heightOf, listRows, rowsInSight, withMore, withTop } from "../src/views/chats/chat-list.ts";
import { plainPreview, sourceOf } from "../src/views/chats/chat-name.tsx";

const NOW = new Date(2026, 10, 23, 12).getTime();

const chat = (id: string, more: Partial<Session> = {}): Session => ({
  id,
  session_id: id,
  device: null,
  kind: "chat",
  channel: null,
  title: id,
  titled_by: "words",
  preview: "",
  unread: 0,
  pinned: false,
  archived: false,
  agent: null,
  model: null,
  turns: 1,
  running: false,
  created_at: new Date(NOW).toISOString(),
  updated_at: new Date(NOW).toISOString(),
  ...more,
});

const page = (ids: string, before: string | null): SessionList => ({
  sessions: [...ids].map((id) => chat(id)),
  before,
});
const idsOf = ({ sessions }: SessionList): string => sessions.map(({ id }) => id).join("");

describe("pages", () => {
  test("a row that moves up is at the top and nowhere else", () => {
    const shown = withMore(page("abc", "1"), page("def", "2"));
    const renewed = withTop(shown, page("eab", "1"));
    expect([idsOf(renewed), renewed.before]).toEqual(["eabdf", "2"]);
  });

  test("a removed row disappears, and a short list ends", () => {
    expect(idsOf(withTop(page("abcd", "1"), page("acd", null)))).toBe("acd");
    expect(idsOf(withTop(withMore(page("abc", "1"), page("def", null)), page("ace", "1")))).toBe("acedf");
    expect(withTop(undefined, page("a", null)).before).toBeNull();
  });

  test("a page requested before a change is not appended to another end", async () => {
    const answers: ((page: SessionList) => void)[] = [];
    const get = (): Promise<unknown> => new Promise((resolve) => answers.push(resolve));
    const list = new ChatList({ get } as ConstructorParameters<typeof ChatList>[0], false);
    const first = list.refresh();
    answers.shift()!(page("ab", "2"));
    await first;
    const more = list.more();
    void list.more();
    expect(answers).toHaveLength(1);
    const again = list.refresh();
    answers[1]!(page("za", "1"));
    await again;
    answers[0]!(page("cd", null));
    await more;
    expect(idsOf(list.rows.value!)).toBe("za");
  });
});

describe("rows", () => {
  test("are under the day of their last message, pinned ones first", () => {
    const at = (daysAgo: number) => ({ updated_at: new Date(NOW - daysAgo * 86_400_000).toISOString() });
    const chats = [
      chat("p", { pinned: true }),
      chat("a", at(0)),
      chat("b", at(1)),
      chat("c", at(3)),
      chat("d", at(20)),
      chat("e", at(200)),
    ];
    const heads = listRows(chats, NOW).flatMap((row) => (row.kind === "head" ? [row.text] : []));
    expect(heads).toEqual(["Pinned", "Today", "Yesterday", "This week", "This month", "May 2026"]);
  });

  test("are rendered only near the visible part, at any scroll position", () => {
    const rows = listRows(
      Array.from({ length: 10_000 }, (_, n) =>
        chat(`c-${n}`, { updated_at: new Date(NOW - n * 3_600_000).toISOString() }),
      ),
      NOW,
    );
    fc.assert(
      fc.property(fc.integer({ min: -100, max: heightOf(rows) + 100 }), (top) => {
        const drawn = rowsInSight(rows, top, 800);
        expect(drawn.length).toBeLessThan(40);
        const isSeen = (row: (typeof rows)[number]): boolean => row.top < top + 800 && row.top + row.height > top;
        expect(rows.filter(isSeen).every((row) => drawn.includes(row))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

test("the source is a channel, the page, the terminal or a program", () => {
  expect(sourceOf(chat("x", { channel: { channel: "email", id: "a@b", thread: null } }))).toEqual({
    name: "Email",
    icon: "envelope",
  });
  expect(sourceOf(chat("page-1")).name).toBe("Page");
  expect(sourceOf(chat("terminal")).name).toBe("Terminal");
  expect(sourceOf(chat("s", { device: { id: "d", name: "ci" } })).name).toBe("ci");
});

test.each([
  ["## Release **1.4** is `out`", "Release 1.4 is out"],
  ["- one - two > three", "one two three"],
  ["see [the notes](https://x.example)", "see the notes"],
  ["2 * 3 < 4", "2 3 < 4"],
])("the preview of %j is %j", (markdown, plain) => {
  expect(plainPreview(markdown)).toBe(plain);
});

test.each([
  [10_000, "now"],
  [5 * 60_000, "5 min"],
  [3 * 3_600_000, "09:00"],
  [30 * 3_600_000, "Sun"],
  [20 * 86_400_000, "3 Nov"],
  [400 * 86_400_000, "2025"],
])("%i ms ago is %j", (agoMs, text) => {
  expect(brief(NOW - agoMs, NOW)).toBe(text);
});
