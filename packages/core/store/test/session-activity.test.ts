// The order of conversations follows the turns at once, and the index of it some hundred turns at a time.
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrate } from "../src/engine/migrations.ts";
import { checkDatabase, type SessionSummary, type Store } from "../src/index.ts";
import { fixture, type Fixture, session, speak, turn } from "./fixture.ts";

let home: Fixture;
let store: Store;
beforeEach(() => {
  home = fixture();
  store = home.open();
});
afterEach(() => {
  store.close();
  home[Symbol.dispose]();
});

const names = (listed: readonly SessionSummary[]): string[] => listed.map(({ name }) => name);
const listed = (limit = 1000): string[] => names(store.sessions.list({}, limit));

/** `sessions` of the database, whatever the index has. */
function read(sql: string): unknown[] {
  const db = new DatabaseSync(home.file, { readOnly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

const stale = (): number =>
  (read("SELECT count(*) AS n FROM sessions WHERE listed_turn <> last_turn") as [{ n: number }])[0].n;

type Step =
  | { say: string; turns: number }
  | { pin: string }
  | { archive: string }
  | { remove: string }
  | { kill: boolean }
  | { keep: number };

describe("the order of conversations", () => {
  test("is that of their newest turns, before and after the index is brought up to date, and after a kill", async () => {
    for (const name of ["a", "b", "c"]) await speak(store, name, 1);
    await speak(store, "a", 1);
    expect([stale(), listed()]).toEqual([3, ["a", "c", "b"]]);
    await speak(store, "b", 600);
    expect([stale(), listed()]).toEqual([0, ["b", "a", "c"]]);
    await speak(store, "c", 1);
    await speak(store, "d", 1);
    expect([stale(), listed()]).toEqual([2, ["d", "c", "b", "a"]]);
    store = home.crash(store);
    expect(listed()).toEqual(["d", "c", "b", "a"]);
    expect(listed(2)).toEqual(["d", "c"]);
    const position = store.sessions.list({}, 2).at(-1)!;
    expect(names(store.sessions.list({}, 9, position))).toEqual(["b", "a"]);
    await speak(store, "a", 600);
    expect([stale(), listed()]).toEqual([0, ["a", "d", "c", "b"]]);
  });

  test("is the same as without an index, whatever is said, pinned, archived, removed and pruned in between", async () => {
    const name = fc.constantFrom("a", "b", "c", "d", "e", "f");
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 6, arbitrary: fc.record({ say: name, turns: fc.constantFrom(1, 1, 2, 300) }) },
      { weight: 1, arbitrary: fc.record({ pin: name }) },
      { weight: 1, arbitrary: fc.record({ archive: name }) },
      { weight: 1, arbitrary: fc.record({ remove: name }) },
      { weight: 1, arbitrary: fc.constantFrom({ kill: true }, { keep: 4 }) },
    );
    const take = async (one: Step): Promise<unknown> => {
      if ("say" in one) return speak(store, one.say, one.turns);
      if ("pin" in one) return store.write(() => store.sessions.change(session(one.pin).id, { pinned: true }, 1));
      if ("archive" in one)
        return store.write(() => store.sessions.change(session(one.archive).id, { archived: true }, 1));
      if ("remove" in one) return store.write(() => store.sessions.remove(session(one.remove).id));
      if ("kill" in one) return (store = home.crash(store));
      const limits = { sessionDays: 0, maxSessions: one.keep, toolCallDays: 1, messageDays: 1 };
      return store.prune(limits, 1);
    };
    const expected = (where: string): unknown =>
      read(`SELECT name FROM sessions WHERE ${where} ORDER BY pinned_at IS NULL, last_turn DESC`).map(
        (row) => (row as { name: string }).name,
      );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        for (const one of steps) {
          await take(one);
          expect(listed()).toEqual(expected("true"));
          expect(names(store.sessions.list({ archived: true }, 9))).toEqual(expected("archived_at IS NOT NULL"));
          const clientId = "c" as ClientId;
          expect(names(store.sessions.list({ clientId, archived: false }, 9))).toEqual(expected("archived_at IS NULL"));
          const paged: string[] = [];
          for (let page = store.sessions.list({}, 2); page.length > 0;) {
            paged.push(...names(page));
            page = store.sessions.list({}, 2, page.at(-1)!);
          }
          expect(paged).toEqual(expected("true"));
        }
        store.close();
        home[Symbol.dispose]();
        home = fixture();
        store = home.open();
      }),
      { numRuns: 25 },
    );
  });
});

const FRAME_BYTES = 4096 + 24;
/** The schema of the release before. */
const BEFORE = 13;

test("a turn in a commit of its own writes the pages of its row and its conversation, and seldom another", async () => {
  for (let n = 0; n < 3; n += 1) await speak(store, "a", 1);
  const frames = (): number => Math.floor(readFileSync(`${home.file}-wal`).length / FRAME_BYTES);
  const before = frames();
  for (let n = 0; n < 100; n += 1) await speak(store, "a", 1);
  // A page for the row, one for the conversation; a new page of rows brings the header and the map of pages with it.
  expect((frames() - before) / 100).toBeLessThan(2.4);
});

test("a home of the release before it keeps its order and the turns that a kill left open", async () => {
  store.close();
  home[Symbol.dispose]();
  home = fixture();
  const old = new DatabaseSync(home.file);
  old.exec("PRAGMA journal_mode = WAL");
  migrate(old, BEFORE);
  const add =
    old.prepare(`INSERT INTO sessions (id, client_id, name, created_at, updated_at, turns, last_turn, first_turn)
    VALUES (?, 'c', ?, 1, 1, 1, ?, ?)`);
  const turns =
    old.prepare(`INSERT INTO turns (n, session, id, at, model, messages, tokens, input_tokens, output_tokens)
    VALUES (?, ?, 't', 1, 'm', '[]', 1, 1, 1)`);
  for (const [n, name, last] of [
    [1, "a", 3],
    [2, "b", 1],
    [3, "c", 2],
  ] as const) {
    add.run(session(name).id, name, last, last);
    turns.run(last, n);
  }
  old.exec(`INSERT INTO open_turns VALUES (4, 't-b', 'c', 'b', 's', 'default', 1, 'second', NULL),
    (2, 't-a', 'c', 'a', 's', 'default', 1, 'first', NULL);
    INSERT INTO open_answers VALUES ('t-a', 1, 'half')`);
  old.close();
  store = home.open();
  expect(listed()).toEqual(["a", "c", "b"]);
  await speak(store, "b", 1);
  expect(listed()).toEqual(["b", "a", "c"]);
  expect(store.openTurns.all().map(({ turnId, partial }) => [turnId, partial?.text])).toEqual([
    ["t-a", "half"],
    ["t-b", undefined],
  ]);
  await store.write(() => store.openTurns.remove("t-a"));
  expect(store.openTurns.all().map(({ turnId }) => turnId)).toEqual(["t-b"]);
  store.close();
  const report = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(report.problems).toEqual([]);
  store = home.open();
});

test("a turn that ends in a transaction that is undone is open still, and ends in the one that holds", async () => {
  const open = {
    owner: "c" as ClientId,
    name: "a",
    sessionId: "s",
    agent: "default",
    at: 1,
    text: "",
    meta: undefined,
  };
  await store.write(() => store.openTurns.add({ ...open, turnId: "t-1" }));
  await expect(
    store.write(() => {
      store.openTurns.remove("t-1");
      store.openTurns.add({ ...open, turnId: "t-2" });
      throw new Error("undone");
    }),
  ).rejects.toMatchObject({ code: "STORE_FAILED" });
  await store.write(() => {
    store.openTurns.savePartial("t-2", { step: 0, text: "of no turn" });
    store.openTurns.savePartial("t-1", { step: 0, text: "half" });
  });
  expect(store.openTurns.all()).toMatchObject([{ turnId: "t-1", partial: { text: "half" } }]);
  await store.write(() => store.sessions.append(session("a"), undefined, turn("t-1")));
  await store.write(() => store.openTurns.remove("t-1"));
  expect([store.openTurns.all(), read("SELECT * FROM open_answers")]).toEqual([[], []]);
});
