// A service that runs for years: what is too old goes, what is young stays, and the file does not grow for ever.
import { rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { RetentionLimits } from "../src/index.ts";
import { addStepFunctions, STEPS } from "../src/engine/migrations.ts";
import { home, open, store, storeForEachTest } from "./each-test.ts";
import { session, speak, turn } from "./fixture.ts";

const DAY = 86_400_000;
const KEEP_ALL: RetentionLimits = { sessionDays: 0, maxSessions: 0, toolCallDays: 36_500, messageDays: 36_500 };
const NONE = {
  sessions: 0,
  turns: 0,
  toolCalls: 0,
  idempotencyKeys: 0,
  messages: 0,
  deliveries: 0,
  seenIds: 0,
  approvals: 0,
};

storeForEachTest();

const names = (): string[] => store.sessions.list({}, 1000).map(({ name }) => name);

/** Counted in the file itself. */
function rows(table: string): number {
  const db = new DatabaseSync(home.file, { readOnly: true });
  const { n } = db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number };
  db.close();
  return n;
}

describe("conversations", () => {
  test("those whose last turn is too old go, with all their turns and no others", async () => {
    await speak(store, "old", 300, { at: 0 });
    await speak(store, "young", 3, { at: 5 * DAY });
    expect(await store.prune({ ...KEEP_ALL, sessionDays: 7 }, 8 * DAY)).toEqual({ ...NONE, sessions: 1, turns: 300 });
    expect(names()).toEqual(["young"]);
    expect(rows("turns")).toBe(3);
    expect(rows("dropped_chains")).toBe(0);
    expect(await store.prune({ ...KEEP_ALL, sessionDays: 7 }, 8 * DAY)).toEqual(NONE);
  });

  test("beyond the most that are kept, the least recent go; over several steps", async () => {
    for (let n = 0; n < 450; n += 1) void speak(store, `s${n}`, 1);
    await speak(store, "last", 1);
    expect(await store.prune({ ...KEEP_ALL, maxSessions: 220 }, 0)).toEqual({ ...NONE, sessions: 231, turns: 231 });
    expect(names()).toHaveLength(220);
    expect(names()[0]).toBe("last");
    expect(names()).not.toContain("s0");
  });

  test("those that a person pinned stay, however old, and take no room of the others", async () => {
    for (const name of ["old", "pinned", "a", "b", "c"]) await speak(store, name, 2, { at: 0 });
    const { id } = store.sessions.list({}, 10).find(({ name }) => name === "pinned")!;
    await store.write(() => store.sessions.change(id, { pinned: true }, 0));
    await store.prune({ ...KEEP_ALL, maxSessions: 2 }, 0);
    expect(names().toSorted()).toEqual(["b", "c", "pinned"]);
    await store.prune({ ...KEEP_ALL, sessionDays: 7, maxSessions: 1 }, 100 * DAY);
    expect(names()).toEqual(["pinned"]);
    expect(rows("turns")).toBe(2);
    await store.write(() => store.sessions.change(id, { pinned: false }, 0));
    expect(await store.prune({ ...KEEP_ALL, sessionDays: 7 }, 100 * DAY)).toMatchObject({ sessions: 1, turns: 2 });
  });

  test("0 keeps all, however old and many", async () => {
    await speak(store, "a", 1, { at: 0 });
    expect(await store.prune(KEEP_ALL, 1e15)).toEqual(NONE);
    expect(names()).toEqual(["a"]);
  });

  test("one that was written while the clock was wrong does not shield the others", async () => {
    await speak(store, "old", 1, { at: 0 });
    await speak(store, "future", 1, { at: 1000 * DAY });
    await speak(store, "also old", 1, { at: 0 });
    await store.prune({ ...KEEP_ALL, sessionDays: 1 }, 10 * DAY);
    expect(names()).toEqual(["future"]);
  });

  test("a turn that ends after its conversation was dropped is kept, in a new one of the same name", async () => {
    const place = await speak(store, "a", 3, { at: 0 });
    await store.prune({ ...KEEP_ALL, sessionDays: 1 }, 10 * DAY);
    // Takes the row numbers that are free again.
    await speak(store, "b", 3, { at: 10 * DAY });
    const after = await store.write(() => store.sessions.append(session("a"), place, turn("late")));
    expect(store.sessions.recentTurns(after, 1000).map(({ id }) => id)).toEqual(["late"]);
    const b = store.sessions.find("c" as ClientId, "b")!;
    expect(store.sessions.recentTurns(b, 1000).map(({ id }) => id)).toEqual(["b0", "b1", "b2"]);
  });

  test("stopped half-way, the next round deletes what is left", async () => {
    await speak(store, "old", 500, { at: 0 });
    const limits = { ...KEEP_ALL, sessionDays: 1 };
    const round = store.prune(limits, 10 * DAY);
    // The session is dropped in the first step; its turns need three more.
    await store.write(() => {});
    store.close();
    await round;
    const left = rows("turns");
    expect(left).toBeGreaterThan(0);
    open();
    expect(names()).toEqual([]);
    expect(await store.prune(limits, 10 * DAY)).toEqual({ ...NONE, turns: left });
    expect(rows("turns")).toBe(0);
  });

  test("turns that are written meanwhile are all there after it", async () => {
    await speak(store, "old", 1000, { at: 0 });
    const round = store.prune({ ...KEEP_ALL, sessionDays: 1 }, 10 * DAY);
    for (let n = 0; n < 50; n += 1) await speak(store, "new", 1, { at: 10 * DAY });
    await round;
    const place = store.sessions.find("c" as ClientId, "new")!;
    expect(store.sessions.recentTurns(place, 1000)).toHaveLength(50);
    expect(rows("turns")).toBe(50);
  });
});

test("the journal of tool calls goes by age; what has not ended stays, and what its turn still needs", async () => {
  const call = (turnId: string): Promise<void> =>
    store.write(() =>
      store.toolCalls.start({
        turnId,
        callId: "1",
        agent: "default",
        client: "c" as ClientId,
        tool: "x",
        acting: true,
        input: {},
      }),
    );
  await Promise.all(Array.from({ length: 120 }, (_, n) => call(`old${n}`)));
  await store.write(() => {
    for (let n = 0; n < 120; n += 1) store.toolCalls.finish(`old${n}`, "1", "finished", "x");
  });
  await call("running");
  // Of a turn that will be taken up again: without its result it would be made a second time.
  await call("begun");
  await store.write(() => {
    store.toolCalls.finish("begun", "1", "finished", "x");
    store.steps.add("begun", { message: {}, inputTokens: 0, outputTokens: 0 });
  });
  await home.clock.advance(31 * DAY);
  await call("young");
  expect(await store.prune({ ...KEEP_ALL, toolCallDays: 30 }, home.clock.now())).toEqual({ ...NONE, toolCalls: 120 });
  expect(["running", "young", "begun"].map((turn) => store.toolCalls.statesOf(turn)[0]?.state)).toEqual([
    "started",
    "started",
    "finished",
  ]);
});

test("expired idempotency keys go, and the count of keys stays right", async () => {
  const keep = (key: string): Promise<void> =>
    store.write(() => store.idempotency.keep({ scope: "s", key }, "t", "done"));
  await Promise.all(Array.from({ length: 60 }, (_, n) => keep(`old${n}`)));
  await home.clock.advance(300_000);
  await Promise.all(Array.from({ length: 40 }, (_, n) => keep(`new${n}`)));
  expect(await store.prune(KEEP_ALL, home.clock.now())).toEqual({ ...NONE, idempotencyKeys: 60 });
  // At most 100: were the 60 still counted, the next ones would push out valid keys.
  await Promise.all(Array.from({ length: 60 }, (_, n) => keep(`new${40 + n}`)));
  expect(store.idempotency.storedKeys()).toHaveLength(100);
});

test("who asks for a round while one runs gets its result", async () => {
  await speak(store, "old", 1, { at: 0 });
  const limits = { ...KEEP_ALL, sessionDays: 1 };
  const [one, other] = await Promise.all([store.prune(limits, 10 * DAY), store.prune(limits, 10 * DAY)]);
  expect(one).toBe(other);
});

describe("the file", () => {
  const round = async (n: number): Promise<number> => {
    const text = "x".repeat(20_000);
    for (let one = 0; one < 10; one += 1) {
      await speak(store, `r${n}-${one}`, 3, { at: n * DAY, messages: [text, n] });
    }
    await store.prune({ ...KEEP_ALL, sessionDays: 2 }, n * DAY);
    return store.size();
  };

  test("its size is bounded over 50 rounds of writing and pruning, the log included", async () => {
    const sizes: number[] = [];
    for (let n = 0; n < 50; n += 1) sizes.push(await round(n));
    // Three rounds are kept at a time, 600 kB each; 1 MiB is spare; the log is cut to 16 MiB.
    store.close();
    expect(statSync(home.file).size).toBeLessThan(5_000_000);
    open();
    expect(Math.max(...sizes)).toBeLessThan(22_000_000);
  });

  test("freed space goes back to the disk", async () => {
    for (let n = 0; n < 10; n += 1) await speak(store, `big${n}`, 5, { messages: ["x".repeat(200_000)] });
    const before = store.size();
    await store.prune({ ...KEEP_ALL, maxSessions: 1 }, 0);
    store.close();
    expect(statSync(home.file).size).toBeLessThan(before / 3);
    open();
  });

  test("one that can't give space back uses it again", async () => {
    store.close();
    for (const name of ["", "-wal", "-shm"]) rmSync(home.file + name, { force: true });
    const db = new DatabaseSync(home.file);
    addStepFunctions(db);
    db.exec(`${STEPS.join("")} PRAGMA user_version = ${STEPS.length}`);
    db.close();
    open();
    for (let n = 0; n < 20; n += 1) await round(n);
    store.close();
    expect(statSync(home.file).size).toBeLessThan(5_000_000);
    open();
  });
});
