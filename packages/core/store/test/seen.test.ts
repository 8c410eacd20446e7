// An id that is forgotten too early is a message answered twice; one that is taken for another's is a message lost.
import { DatabaseSync } from "node:sqlite";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkDatabase } from "../src/index.ts";
import { GroupCommit } from "../src/engine/group-commit.ts";
import { BLOCK_SIZE, Dedupe } from "../src/messages/dedupe.ts";
import { MessageStores } from "../src/messages/messages.ts";
import { openDatabase } from "../src/store.ts";
import { crash, home, open, store, storeForEachTest } from "./each-test.ts";
import { arrive, fixture, keptOf, message } from "./fixture.ts";

storeForEachTest();

const DAY = 86_400_000;
const HOUR = 3_600_000;
const id = (key: string, forMs = 8 * DAY) => message("room", key, { kind: "reaction", dedupe: { key, forMs } });
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
/** How many of these ids were new. */
const give = async (from: number, to: number, forMs?: number): Promise<number> =>
  keptOf(await arrive(store, home.clock, ...range(from, to).map((n) => id(`id-${n}`, forMs)))).length;
const prune = (): Promise<{ seenIds: number }> =>
  store.prune({ sessionDays: 0, maxSessions: 0, toolCallDays: 30, messageDays: 30 }, home.clock.now());

function rows(table: string): number {
  const db = new DatabaseSync(home.file, { readOnly: true });
  const { n } = db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number };
  db.close();
  return n;
}

test("ids beyond what is held in memory are known, before a kill and after it", async () => {
  for (let n = 0; n < 5 * BLOCK_SIZE; n += 4000) expect(await give(n, n + 4000)).toBe(4000);
  expect(rows("seen_blocks")).toBeGreaterThan(3);
  const total = 4000 * Math.ceil((5 * BLOCK_SIZE) / 4000);
  expect(await give(0, total)).toBe(0);
  crash();
  expect(await give(0, total + 5)).toBe(5);
});

test("a commit that brings several blocks at once forgets none", async () => {
  await give(0, BLOCK_SIZE - 1);
  const more = range(1, 4).map((part) => give(part * BLOCK_SIZE, (part + 1) * BLOCK_SIZE));
  expect(await Promise.all(more)).toEqual([BLOCK_SIZE, BLOCK_SIZE, BLOCK_SIZE]);
  crash();
  expect(await give(0, 4 * BLOCK_SIZE)).toBe(1);
  expect((await checkDatabase(home.file, { quick: false, clock: home.clock })).problems).toEqual([]);
});

test("a block whose commit fails is written by the next one, without what was undone", async () => {
  store.close();
  const { db } = openDatabase(home.file);
  const stores = new MessageStores(db, home.clock, () => undefined);
  let fails = false;
  const commits = new GroupCommit(db, {
    ...stores.hooks,
    beforeCommit: () => {
      stores.hooks.beforeCommit();
      if (fails) throw new Error("no");
    },
  });
  const keep = async (from: number, to: number): Promise<number> => {
    const messages = range(from, to).map((n) => id(`id-${n}`));
    const arrival = { channel: "chat", messages };
    return keptOf(await commits.write(() => stores.inbox.arrive(arrival, home.clock.now()))).length;
  };
  await keep(0, BLOCK_SIZE - 10);
  fails = true;
  await expect(keep(BLOCK_SIZE - 10, BLOCK_SIZE + 10)).rejects.toMatchObject({ code: "STORE_FAILED" });
  fails = false;
  expect([rows("seen_blocks"), stores.inbox.counts().inbox.done]).toEqual([0, BLOCK_SIZE - 10]);
  expect(await keep(BLOCK_SIZE - 5, BLOCK_SIZE + 10)).toBe(15);
  expect(await keep(0, BLOCK_SIZE + 10)).toBe(5);
  expect([rows("seen_blocks"), stores.inbox.counts().inbox.done]).toEqual([1, BLOCK_SIZE + 10]);
  db.close();
  open();
  expect(await give(0, BLOCK_SIZE + 20)).toBe(10);
});

describe("once their time is over", () => {
  test("ids go, young and old ones, and nothing of them stays on disk", async () => {
    await give(0, BLOCK_SIZE, DAY);
    await give(BLOCK_SIZE, BLOCK_SIZE + 300, DAY);
    await home.clock.advance(DAY - 1);
    expect((await prune()).seenIds).toBe(0);
    await home.clock.advance(1);
    expect((await prune()).seenIds).toBe(BLOCK_SIZE + 300);
    expect(["seen_recent", "seen_blocks", "seen_rows"].map(rows)).toEqual([0, 0, 0]);
    expect(await give(0, 10)).toBe(10);
  });

  test("a short one is new again though it lies among long ones", async () => {
    await give(0, 100, HOUR);
    await give(100, BLOCK_SIZE);
    await home.clock.advance(HOUR);
    await prune();
    expect(await give(0, 200)).toBe(100);
    crash();
    expect(await give(0, BLOCK_SIZE)).toBe(0);
  });
});

test("whatever comes in which order, over kills: an id is new once, until its time is over", async () => {
  const batch = fc.record({
    ids: fc.array(fc.nat({ max: 60 }), { maxLength: 12 }),
    forMs: fc.constantFrom(HOUR, DAY),
    // Many others at once, so that blocks are made on the way.
    crowd: fc.constantFrom(0, 0, 0, 3000),
    next: fc.constantFrom("go on", "go on", "kill", "restart", "prune", "wait an hour", "wait half a day", "undo"),
  });
  let crowd = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 5, maxLength: 25 }), async (batches) => {
      using at = fixture();
      let own = at.open();
      const known = new Map<number, number>();
      for (const { ids, forMs, crowd: others, next } of batches) {
        const nowMs = at.clock.now();
        const messages = [
          ...ids.map((n) => id(`${n}`, forMs)),
          ...range(crowd, (crowd += others)).map((n) => id(`crowd-${n}`)),
        ];
        const kept = own.write(() => {
          const arrived = own.inbox.arrive({ channel: "chat", messages }, nowMs);
          if (next === "undo") throw new Error("undone");
          return arrived;
        });
        const arrived = await kept.catch(() => undefined);
        if (arrived === undefined) continue;
        const expected = ids.map((n) => {
          const isNew = (known.get(n) ?? -Infinity) <= nowMs;
          if (isNew) known.set(n, nowMs + forMs);
          return isNew;
        });
        if (arrived.state === "replayed") throw new Error("nothing here may be used once only");
        expect(arrived.messages.slice(0, ids.length).map((each) => each !== "duplicate")).toEqual(expected);
        expect(arrived.messages.slice(ids.length)).not.toContain("duplicate");
        if (next === "kill") own = at.crash(own);
        if (next === "restart") own.close();
        if (next === "restart") own = at.open();
        if (next === "prune")
          await own.prune({ sessionDays: 0, maxSessions: 0, toolCallDays: 1, messageDays: 1 }, nowMs);
        if (next === "wait an hour") await at.clock.advance(HOUR);
        if (next === "wait half a day") await at.clock.advance(DAY / 2);
      }
      own.close();
    }),
    { numRuns: cases(8) },
  );
});

describe("an id of a numbered message that is over", () => {
  const HOUR_LATER = 2 * HOUR;
  const numbered = message("room", "7", { dedupe: { key: "7", forMs: HOUR, sequence: 7 } });

  /** What remembers ids, in transactions of its own. */
  function dedupeOn(db: DatabaseSync): { dedupe: Dedupe; inTransaction: <T>(change: () => T, end?: "undo") => T } {
    const dedupe = new Dedupe(db);
    return {
      dedupe,
      inTransaction: (change, end) => {
        db.exec("BEGIN");
        const value = change();
        dedupe.seen.flush();
        db.exec(end === "undo" ? "ROLLBACK" : "COMMIT");
        if (end === "undo") dedupe.seen.discard();
        else dedupe.seen.settle();
        return value;
      },
    };
  }

  test("is forgotten in no other transaction than the one that raises the floor", () => {
    const { db } = openDatabase(":memory:");
    const { dedupe, inTransaction } = dedupeOn(db);
    expect(inTransaction(() => dedupe.isNew("chat", numbered, 0))).toBe(true);
    expect(inTransaction(() => dedupe.forget(HOUR_LATER))).toBe(1);
    expect(inTransaction(() => dedupe.isNew("chat", numbered, HOUR_LATER))).toBe(false);
    db.close();
  });

  test("is known as before when its second coming is undone", () => {
    const { db } = openDatabase(":memory:");
    const { dedupe, inTransaction } = dedupeOn(db);
    inTransaction(() => dedupe.seen.add("id", 0, HOUR));
    expect(inTransaction(() => dedupe.seen.add("id", HOUR_LATER, HOUR), "undo")).toBe(true);
    expect(inTransaction(() => dedupe.seen.add("id", HOUR_LATER, HOUR, "even expired"))).toBe(false);
    db.close();
  });
});
