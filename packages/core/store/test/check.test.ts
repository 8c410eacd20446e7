// A damaged database that is called sound; a check that holds up a daemon, or never ends.
import { closeSync, existsSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fakeClock } from "@svc/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkDatabase, copyDatabase, type DatabaseReport, SCHEMA_VERSION } from "../src/index.ts";
import { BLOCK_SIZE } from "../src/messages/dedupe.ts";
import { arrive, delivery, fixture, type Fixture, message, speak } from "./fixture.ts";

let home: Fixture;
beforeEach(() => (home = fixture()));
afterEach(() => home[Symbol.dispose]());

const SOUND = { schema: SCHEMA_VERSION, problems: [], complete: true };
const check = (more: { limitMs?: number } = {}, clock = fakeClock()): Promise<DatabaseReport> =>
  checkDatabase(home.file, { quick: false, clock, ...more });

/** Changes the closed database behind the store's back. */
async function changed(sql: string): Promise<DatabaseReport> {
  const store = home.open();
  await speak(store, "a", 5);
  await speak(store, "b", 5);
  store.close();
  const db = new DatabaseSync(home.file);
  db.exec(sql);
  db.close();
  return check();
}

describe("a check", () => {
  test("finds nothing in a sound database, also while it is written to", async () => {
    const store = home.open();
    await speak(store, "a", 20);
    const [report] = await Promise.all([check(), speak(store, "b", 20)]);
    expect(report).toEqual(SOUND);
    store.close();
  });

  test("finds damaged pages", async () => {
    const store = home.open();
    await speak(store, "a", 200, { messages: ["x".repeat(3000)] });
    store.close();
    const file = openSync(home.file, "r+");
    for (let page = 4; page < 100; page += 3) writeSync(file, Buffer.alloc(200, 0xff), 0, 200, page * 4096);
    closeSync(file);
    const { problems } = await check();
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join()).not.toContain("xxx");
  });

  test.each([
    ["text", Buffer.from("this is not a database".repeat(400))],
    ["nothing", Buffer.alloc(0)],
    ["zeros", Buffer.alloc(8192)],
  ])("finds that a file of %s is no database of svc", async (_, bytes) => {
    writeFileSync(home.file, bytes);
    const { problems } = await check();
    expect(problems).toHaveLength(1);
  });

  test.each([
    ["UPDATE sessions SET last_turn = 999 WHERE name = 'a'", "1 conversations name a newest turn"],
    ["UPDATE sessions SET last_turn = 10 WHERE name = 'a'", "1 conversations name a newest turn"],
    ["DELETE FROM turns WHERE n = 3", "1 turns follow one"],
    ["UPDATE turns SET previous = 8 WHERE n = 3", "1 turns follow one"],
    ["UPDATE turns SET previous = 3 WHERE n = 3", "1 turns follow one"],
    ["DROP TABLE vault", "Parts of its schema are missing: table vault"],
    ["CREATE TRIGGER t AFTER INSERT ON turns BEGIN DELETE FROM devices; END", "triggers or views"],
    ["CREATE VIEW v AS SELECT 1", "triggers or views"],
  ])("finds what %s did", async (sql, problem) => {
    const report = await changed(sql);
    expect(report.problems).toEqual([expect.stringContaining(problem)]);
  });

  test("a newer database is refused", async () => {
    await expect(changed(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)).rejects.toMatchObject({ code: "STORE_NEWER" });
  });

  test("a file that is not there is said, and not made", async () => {
    await expect(check()).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(existsSync(home.file)).toBe(false);
  });

  test("ends when its time is up, and says that it did not look at everything", async () => {
    const store = home.open();
    await speak(store, "a", 5);
    const clock = fakeClock();
    let looks = 0;
    const impatient = { ...clock, monotonic: () => (looks += 1) * 40 };
    expect(await check({ limitMs: 100 }, impatient)).toEqual({ ...SOUND, complete: false });
    expect(await check({ limitMs: 100_000 }, impatient)).toEqual(SOUND);
    store.close();
  });
});

test.each([
  ["DELETE FROM inbox_open WHERE n = 1", "1 messages that came in neither wait nor have ended"],
  [
    "INSERT INTO inbox_ended VALUES (1, 'chat', 'done', 0, NULL, 1)",
    "1 messages that came in neither wait nor have ended, or both",
  ],
  ["DELETE FROM inbox WHERE n = 2", "1 notes of messages that came in belong to none"],
  ["DELETE FROM outbox_ended WHERE n = 1", "1 messages that go out neither wait nor have ended"],
  ["INSERT INTO outbox_open (n) VALUES (7)", "1 notes of messages that go out belong to none"],
  ["DELETE FROM seen_rows WHERE n = 130", "1 blocks of ids that were seen before are not whole"],
])("a check finds what %s did to the messages", async (sql, problem) => {
  const store = home.open();
  const clock = fakeClock();
  const crowd = Array.from({ length: BLOCK_SIZE }, (_, n) => message("room", `id-${n}`, { kind: "reaction" }));
  await arrive(store, clock, message("room", "first"), message("room", "second"), ...crowd);
  await store.write(() => {
    store.inbox.end(2, "done");
    store.outbox.add([delivery("room")], 1);
    store.outbox.sent(1, "p", 1);
  });
  store.close();
  expect((await check()).problems).toEqual([]);
  const db = new DatabaseSync(home.file);
  db.exec(sql);
  db.close();
  expect((await check()).problems).toEqual([expect.stringContaining(problem)]);
});

describe("a copy", () => {
  test("is one sound file that holds what was committed before it, while turns go on", async () => {
    const store = home.open();
    await speak(store, "a", 30);
    const target = join(home.folder, "copy.db");
    const [, place] = await Promise.all([store.backupTo(target), speak(store, "b", 30)]);
    expect(store.sessions.recentTurns(place, 1000)).toHaveLength(30);
    store.close();
    expect(await checkDatabase(target, { quick: false, clock: fakeClock() })).toEqual(SOUND);
    expect([existsSync(`${target}-wal`), existsSync(`${target}-shm`)]).toEqual([false, false]);
    const db = new DatabaseSync(target);
    expect(db.prepare("SELECT turns FROM sessions WHERE name = 'a'").get()).toEqual({ turns: 30 });
    db.close();
  });

  test("a place that can't be written is STORE_FAILED, and the store goes on", async () => {
    const store = home.open();
    await expect(store.backupTo(join(home.folder, "no", "copy.db"))).rejects.toMatchObject({ code: "STORE_FAILED" });
    await speak(store, "a", 1);
    store.close();
    await expect(copyDatabase(join(home.folder, "none.db"), join(home.folder, "c.db"))).rejects.toMatchObject({
      code: "STORE_FAILED",
    });
    expect(statSync(home.file).size).toBeGreaterThan(0);
  });
});
