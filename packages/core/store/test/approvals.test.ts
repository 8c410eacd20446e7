// An approval that is answered twice, lost by a kill, found in another conversation, or in everybody's way.
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { checkDatabase, type NewApproval } from "../src/index.ts";
import { crash, home, open, reopen, store, storeForEachTest } from "./each-test.ts";
import { delivery } from "./fixture.ts";

storeForEachTest();

const DAY = 86_400_000;
const DIGEST = "ab".repeat(32);
const room = { channel: "chat", id: "room" };

const asked = (runId: string, more: Partial<NewApproval> = {}): NewApproval => ({
  runId,
  stepId: "s",
  origin: "external",
  title: "Deploy?",
  message: "to production",
  approveKeywords: ["approve", "yes"],
  rejectKeywords: [],
  channels: ["chat"],
  askedBy: "a program",
  digest: DIGEST,
  createdAtMs: 1000,
  expiresAtMs: 9000,
  ...more,
});

const add = (runId: string, more: Partial<NewApproval> = {}): Promise<number> =>
  store.write(() => store.approvals.add(asked(runId, more)));

/** Asked in a conversation as well; resolves with its number and that of the outbox row. */
const ask = (runId: string, conversation: { channel: string; id: string; thread?: string } = room) =>
  store.write(() => {
    const n = store.approvals.add(asked(runId));
    const [row] = store.outbox.add([delivery("room", { conversation, approval: n })], 1000);
    store.approvals.addPrompt(n, conversation, row!.n);
    return { n, delivery: row!.n };
  });

const end = (n: number, atMs = 2000, status: "approved" | "rejected" = "approved"): Promise<boolean> =>
  store.write(() => store.approvals.settle(n, status, { feedback: "fine", by: "alice", via: "chat", atMs }));

const numbers = (approvals: readonly { readonly n: number }[]): number[] => approvals.map(({ n }) => n);

describe("an approval", () => {
  test("is after a kill what it was, with where it was asked", async () => {
    const { n, delivery: row } = await ask("r-1", { ...room, thread: "t" });
    await store.write(() => store.approvals.announced(n, "boot-1"));
    crash();
    const expected = {
      ...asked("r-1"),
      n,
      status: "waiting",
      prompts: [{ conversation: { ...room, thread: "t" }, opened: undefined, delivery: row }],
      answer: undefined,
      eventId: "boot-1",
    };
    expect(store.approvals.read(n)).toEqual(expected);
    expect(store.approvals.byKey("r-1", "s")).toEqual(expected);
    expect(store.approvals.list({ status: "waiting" }, 10)).toEqual([expected]);
    expect(store.approvals.byKey("r-1", "other")).toBeUndefined();
  });

  test("ends once, whoever comes later", async () => {
    const n = await add("r-1");
    const ended = await Promise.all([end(n), end(n, 3000, "rejected"), end(n, 4000)]);
    expect(ended).toEqual([true, false, false]);
    reopen();
    expect(store.approvals.read(n)).toMatchObject({
      status: "approved",
      answer: { feedback: "fine", by: "alice", via: "chat", atMs: 2000 },
    });
    expect(store.approvals.countWaiting()).toBe(0);
  });

  test("is one for its key", async () => {
    await add("r-1");
    await expect(add("r-1")).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(add("r-1", { stepId: "s2" })).resolves.toBe(2);
  });

  test("keeps its number to itself, also when it is gone", async () => {
    const n = await add("r-1");
    await end(n);
    await store.write(() => store.approvals.dropOld(DAY, 10));
    expect(store.approvals.read(n)).toBeUndefined();
    expect(await add("r-1")).toBe(n + 1);
  });
});

describe("where it can be answered", () => {
  test("is the conversation it was asked in, and no other", async () => {
    const { n } = await ask("r-1");
    const { n: inThread } = await ask("r-2", { ...room, thread: "t" });
    expect(numbers(store.approvals.waitingIn(room))).toEqual([n]);
    expect(numbers(store.approvals.waitingIn({ ...room, thread: "t" }))).toEqual([inThread]);
    expect(store.approvals.waitingIn({ ...room, thread: "u" })).toEqual([]);
    expect(store.approvals.waitingIn({ channel: "other", id: "room" })).toEqual([]);
  });

  test("is the thread that the channel opened for it too, but none on another channel", async () => {
    const { n, delivery: row } = await ask("r-1");
    const opened = { channel: "chat", id: "opened" };
    expect(await store.write(() => store.approvals.setOpened(row, { channel: "other", id: "opened" }))).toBe(false);
    expect(await store.write(() => store.approvals.setOpened(row + 1, opened))).toBe(false);
    expect(await store.write(() => store.approvals.setOpened(row, opened))).toBe(true);
    crash();
    expect(numbers(store.approvals.waitingIn(opened))).toEqual([n]);
    expect(numbers(store.approvals.waitingIn(room))).toEqual([n]);
    expect(store.approvals.read(n)!.prompts[0]!.opened).toEqual(opened);
    await end(n);
    expect(store.approvals.waitingIn(opened)).toEqual([]);
    expect(store.approvals.waitingIn(room)).toEqual([]);
  });
});

describe("time", () => {
  test("those that are due come in the order in which they became so", async () => {
    await add("late", { expiresAtMs: 5000 });
    await add("early", { expiresAtMs: 3000 });
    await add("over", { expiresAtMs: 1000 }).then((n) => end(n));
    expect(store.approvals.nextExpiryMs()).toBe(3000);
    expect(store.approvals.due(2999, 10)).toEqual([]);
    expect(numbers(store.approvals.due(5000, 10))).toEqual([2, 1]);
    expect(numbers(store.approvals.due(5000, 1))).toEqual([2]);
  });

  test("with none waiting there is no next one", () => {
    expect(store.approvals.nextExpiryMs()).toBe(Infinity);
  });
});

describe("lists", () => {
  test("are paged, newest first, by status and by run", async () => {
    for (let run = 1; run <= 5; run += 1) await add(`r-${run}`);
    await add("r-1", { stepId: "s2" });
    await end(2);
    const list = (filter = {}, limit = 10): number[] => numbers(store.approvals.list(filter, limit));
    expect(list({}, 2)).toEqual([6, 5]);
    expect(list({ before: 5 }, 2)).toEqual([4, 3]);
    expect(list({ status: "approved" })).toEqual([2]);
    expect(list({ status: "waiting", before: 4 })).toEqual([3, 1]);
    expect(list({ runId: "r-1" })).toEqual([6, 1]);
    expect(list({ runId: "r-2", status: "waiting" })).toEqual([]);
    expect(store.approvals.countWaiting()).toBe(5);
  });

  test("100 that wait are found at once among 100 000 that have ended, many of them asked in the same place", () => {
    store.close();
    const db = new DatabaseSync(home.file);
    db.exec(`
      WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100000)
      INSERT INTO approvals SELECT i, 'r-' || i, 's', 'sop', iif(i % 1000 = 0, 'waiting', 'approved'), x'00', i, i, 'me', '[]',
        '[]', '[]', 't', 'm', NULL, iif(i % 1000 = 0, NULL, i), iif(i % 1000 = 0, NULL, 'a'), 'cli', NULL, NULL, NULL,
        NULL FROM c;
      INSERT INTO approval_prompts (delivery, approval, is_open, channel, chat)
        SELECT n, n, status = 'waiting', 'chat', 'room' FROM approvals;`);
    // What SQLite walks, not how long this machine takes: a list that scans fails here, however fast it is.
    const plan = (sql: string): string => JSON.stringify(db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
    expect(plan("SELECT n FROM approvals WHERE status = 'waiting' ORDER BY n")).toMatch(/SEARCH.*approvals_by_status/);
    expect(plan("SELECT n FROM approvals WHERE ended_at < 5 ORDER BY ended_at LIMIT 5")).toContain("approvals_by_end");
    db.close();
    open();
    expect(store.approvals.waitingIn(room)).toHaveLength(100);
    expect(store.approvals.list({ status: "waiting" }, 1_000)).toHaveLength(100);
    expect(store.approvals.list({ status: "waiting", before: 50_001 }, 3).map(({ n }) => n)).toEqual([
      50_000, 49_000, 48_000,
    ]);
    expect(store.approvals.countWaiting()).toBe(100);
  });
});

describe("retention", () => {
  const KEEP = { sessionDays: 0, maxSessions: 0, toolCallDays: 36_500, messageDays: 7 };

  test("takes those that ended long ago, with their prompts, and none that waits", async () => {
    for (let i = 0; i < 250; i += 1) await ask(`r-${i}`).then(({ n }) => end(n, DAY));
    const { n: young } = await ask("young");
    await end(young, 8 * DAY);
    const { n: waiting } = await ask("waiting");
    expect((await store.prune(KEEP, 9 * DAY)).approvals).toBe(250);
    expect(numbers(store.approvals.list({}, 500))).toEqual([waiting, young]);
    expect((await store.prune(KEEP, 9 * DAY)).approvals).toBe(0);
    const db = new DatabaseSync(home.file, { readOnly: true });
    expect(db.prepare("SELECT count(*) AS n FROM approval_prompts").get()).toEqual({ n: 2 });
    db.close();
  });
});

describe("a check", () => {
  test.each([
    ["UPDATE approvals SET ended_at = 5 WHERE n = 1", "1 approvals neither wait nor have an end"],
    ["UPDATE approvals SET status = 'approved' WHERE n = 1", "1 approvals neither wait"],
    ["DELETE FROM approvals WHERE n = 2", "1 questions to a person belong to no approval"],
    ["UPDATE approval_prompts SET is_open = 1", "1 questions to a person"],
  ])("finds what %s did", async (sql, problem) => {
    await ask("r-1");
    await ask("r-2").then(({ n }) => end(n));
    const check = () => checkDatabase(home.file, { quick: false, clock: home.clock });
    expect((await check()).problems).toEqual([]);
    const db = new DatabaseSync(home.file);
    db.exec(sql);
    db.close();
    expect((await check()).problems).toContainEqual(expect.stringContaining(problem));
  });
});
