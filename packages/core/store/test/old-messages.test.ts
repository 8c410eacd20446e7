// Messages that are kept for ever, go too early or take others with them, or leave files behind of which nobody knows.
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { crash, home, open, reopen, store, storeForEachTest } from "./each-test.ts";
import { arrive, delivery, message } from "./fixture.ts";

const DAY = 86_400_000;
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

const step = { message: { role: "assistant" }, inputTokens: 1, outputTokens: 1 };

storeForEachTest();

/** Counted in the file itself. */
function rows(table: string): number {
  const db = new DatabaseSync(home.file, { readOnly: true });
  const { n } = db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number };
  db.close();
  return n;
}

const DAYS = { sessionDays: 0, maxSessions: 0, toolCallDays: 36_500, messageDays: 30 };
const come = async (count: number): Promise<void> => {
  await arrive(store, home.clock, ...Array.from({ length: count }, (_, n) => message(`room-${n}`)));
};

test("that ended long ago go with all that is left of them; those that wait stay, however old", async () => {
  await come(6);
  await store.write(() => {
    store.outbox.add([delivery("a", { turnId: "t-1", key: "k" }), delivery("b"), delivery("c")], 1);
    for (const n of [1, 2, 3, 5]) store.steps.add(store.inbox.read(n)!.turnId, step);
    store.inbox.end(1, "done");
    store.inbox.end(2, "failed", "TURN_FAILED");
    store.inbox.end(3, "dropped");
    store.outbox.sent(1, "p", home.clock.now());
    store.outbox.dead(2, "DELIVERY_REFUSED", home.clock.now());
  });
  const waitingTurn = store.inbox.read(5)!.turnId;
  await home.clock.advance(29 * DAY);
  await store.write(() => store.inbox.end(4, "done"));
  await home.clock.advance(DAY);
  expect(await store.prune(DAYS, home.clock.now())).toEqual(NONE);
  await home.clock.advance(1);
  expect(await store.prune(DAYS, home.clock.now())).toEqual({ ...NONE, messages: 3, deliveries: 2 });
  expect(store.inbox.list({}, 10).map(({ n }) => n)).toEqual([6, 5, 4]);
  expect(store.outbox.list({}, 10).map(({ n }) => n)).toEqual([3]);
  expect([store.steps.of(waitingTurn).length, rows("steps")]).toEqual([1, 1]);
  expect(store.inbox.counts()).toMatchObject({
    inbox: { waiting: 2, done: 1, failed: 0, dropped: 0 },
    outbox: { waiting: 1, sent: 0, dead: 0, dropped: 0 },
  });
});

test("are many more than one step takes, and large", async () => {
  await come(9000);
  const body = { text: "x".repeat(300_000) };
  await arrive(store, home.clock, ...Array.from({ length: 10 }, () => message("large", undefined, { body })));
  await come(1);
  await store.write(() => {
    for (let n = 1; n <= 9010; n += 1) if (n % 4500 !== 0) store.inbox.end(n, "done");
  });
  await home.clock.advance(31 * DAY);
  expect(await store.prune(DAYS, home.clock.now())).toEqual({ ...NONE, messages: 9008 });
  expect(store.inbox.list({}, 10).map(({ n }) => n)).toEqual([9011, 9000, 4500]);
  expect(["inbox", "inbox_open", "inbox_ended"].map(rows)).toEqual([3, 3, 0]);
});

test("with files are told of before they go, each once, and those that stay are not", async () => {
  const media = [{ kind: "image", ref: "r", placeholder: "[IMAGE]" }];
  const body = { text: "look", media };
  await arrive(store, home.clock, message("plain"));
  await arrive(store, home.clock, ...Array.from({ length: 450 }, () => message("a", undefined, { body })));
  await arrive(store, home.clock, message("note", undefined, { kind: "notice", body }), message("waits"));
  const receivedAtMs = home.clock.now();
  await store.write(() => {
    for (let n = 1; n <= 452; n += 1) if (n !== 3) store.inbox.end(n, "done");
  });
  await home.clock.advance(31 * DAY);
  const told: number[] = [];
  const gone = await store.prune(DAYS, home.clock.now(), async (messages) => {
    for (const each of messages) {
      expect(each).toEqual({ n: each.n, receivedAtMs, media });
      expect(store.inbox.read(each.n)).toBeDefined();
      told.push(each.n);
    }
  });
  expect(gone).toEqual({ ...NONE, messages: 451 });
  expect(told).toEqual(Array.from({ length: 450 }, (_, index) => index + 2).filter((n) => n !== 3));
});

test("that are taken up again, or come, while the files of others go, stay", async () => {
  await come(3);
  await store.write(() => [1, 2, 3].map((n) => store.inbox.end(n, "failed")));
  await store.write(() => store.inbox.reopen(3));
  await store.write(() => store.inbox.end(3, "done"));
  const body = { media: [{ kind: "image" }] };
  await arrive(store, home.clock, message("a", undefined, { body }), message("last"));
  await store.write(() => [4, 5].map((n) => store.inbox.end(n, "done")));
  await home.clock.advance(31 * DAY);
  const gone = await store.prune(DAYS, home.clock.now(), async () => {
    await store.write(() => store.inbox.reopen(2));
    await come(1);
  });
  // 5 was the newest when the page was read, and nobody was told of its files.
  expect(gone).toEqual({ ...NONE, messages: 3 });
  expect(store.inbox.list({}, 10).map(({ n }) => n)).toEqual([6, 5, 2]);
  expect(store.inbox.waiting().map(({ n }) => n)).toEqual([2, 6]);
});

test("none is deleted after the store was closed while files went", async () => {
  await arrive(store, home.clock, message("a", undefined, { body: { media: [] } }), message("b"));
  await store.write(() => [1, 2].map((n) => store.inbox.end(n, "done")));
  await home.clock.advance(31 * DAY);
  await store.prune(DAYS, home.clock.now(), async () => store.close()).catch(() => undefined);
  open();
  expect(store.inbox.read(1)).toMatchObject({ state: "done" });
});

test("never get the number of one that is gone", async () => {
  await come(3);
  await store.write(() => [1, 2, 3].map((n) => store.inbox.end(n, "done")));
  await home.clock.advance(31 * DAY);
  await store.prune(DAYS, home.clock.now());
  reopen();
  await come(1);
  expect(store.inbox.waiting().map(({ n }) => n)).toEqual([4]);
});

test("one that ended while the clock was wrong does not shield the others", async () => {
  await come(3);
  const now = home.clock.now();
  home.clock.setWallClock(now + 1000 * DAY);
  await store.write(() => store.inbox.end(1, "done"));
  home.clock.setWallClock(now);
  await store.write(() => store.inbox.end(2, "done"));
  expect(await store.prune(DAYS, now + 31 * DAY)).toEqual({ ...NONE, messages: 1 });
  expect(store.inbox.list({}, 10).map(({ n }) => n)).toEqual([3, 1]);
});

test("nobody is told of a lost one that is gone", async () => {
  await come(2);
  for (let time = 0; time < 5; time += 1) {
    await store.write(() => store.inbox.begin(1));
    crash();
  }
  expect(store.inbox.lost()).toHaveLength(1);
  await home.clock.advance(31 * DAY);
  await store.prune(DAYS, home.clock.now());
  expect([store.inbox.lost(), rows("inbox_lost")]).toEqual([[], 0]);
});
