// An upgrade: everything an older svc kept is there after it, whatever happens on the way.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClientId } from "@svc/contract";
import {
  NEWEST_SCHEMA,
  isNewestSchema,
  migrate,
  SCHEMA_VERSION,
  schemaVersion,
  STEPS,
} from "../src/engine/migrations.ts";
import { checkDatabase, phrasesOf } from "../src/index.ts";
import { arrive, delivery, fixture, type Fixture, message } from "./fixture.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

let home: Fixture;
beforeEach(() => (home = fixture()));
afterEach(() => home[Symbol.dispose]());

/** As the first release left it, with a row in every table. */
function firstRelease(): void {
  const db = new DatabaseSync(home.file);
  db.exec(`PRAGMA journal_mode = WAL; ${STEPS[0]} PRAGMA user_version = 1;
    INSERT INTO meta VALUES ('local_client_id', 'cl-1');
    INSERT INTO devices VALUES ('d', 'hash', 'cl-2', 'phone', 'operator', 1, 2);
    INSERT INTO sessions VALUES (7, 's-1', 'cl-2', 'work', 10, 20, 2, 2);
    INSERT INTO turns VALUES (1, 7, NULL, 't-1', 1767225600000, 'gpt', '["one"]', 5, 100, 10, 0.25);
    INSERT INTO turns VALUES (2, 7, 1, 't-2', 1767312000000, 'gpt', '["two"]', 6, 200, 20, NULL);
    INSERT INTO tool_calls VALUES ('t-1', 'c-1', 'shell', 1, '{}', 'finished', '"ok"', 15, 16);
    INSERT INTO idempotency VALUES (1, 'cl-2', 'key', 99999999999999, 't-1', 'done');`);
  db.close();
}

/** What the second release added, with a row in each. */
function secondRelease(): void {
  firstRelease();
  const db = new DatabaseSync(home.file);
  db.exec(`BEGIN; ${STEPS[1]} PRAGMA user_version = 2; COMMIT;
    INSERT INTO vault VALUES ('feature', 'token', 'sealed');
    INSERT INTO idempotency VALUES (2, 'cl-2', 'ran', 99999999999999, 't-3', 'running');
    INSERT INTO tool_calls VALUES ('t-3', 'c-1', 'shell', 1, '{}', 'started', NULL, 17, NULL, 'clerk');
    INSERT INTO dropped_chains VALUES (99);`);
  db.close();
}

/** What the fourth release knew, with a message that waits, one that was given up, and an answer on its way. */
function fourthRelease(): void {
  secondRelease();
  const db = new DatabaseSync(home.file);
  const body = JSON.stringify({ conversation: { channel: "chat", id: "room" }, sender: "alice", text: "hi" });
  db.exec(`BEGIN; ${STEPS[2]} ${STEPS[3]} PRAGMA user_version = 4; COMMIT;
    INSERT INTO inbox VALUES (1, 't-4', 'chat', 'message', 'room', 30, '${body}');
    INSERT INTO inbox_open (n, attempts, error, begun) VALUES (1, 2, 'MODEL_UNREACHABLE', 1);
    INSERT INTO inbox VALUES (2, 't-5', 'chat', 'message', 'room', 31, '${body}');
    INSERT INTO inbox_ended VALUES (2, 'chat', 'failed', 5, 'TURN_CRASHED', 32);
    INSERT INTO inbox_lost VALUES (2);
    INSERT INTO outbox VALUES (1, 'd-1', 'chat', 'room', NULL, 'room', 't-3', NULL, 33, '[]', NULL, 'answer', NULL);
    INSERT INTO outbox_open (n, attempts) VALUES (1, 3);`);
  db.close();
}

/** What the fifth release knew: all of that, a beginning of an answer that a platform has, a choice, and a run that waits. */
function fifthRelease(): void {
  fourthRelease();
  const db = new DatabaseSync(home.file);
  db.exec(`BEGIN; ${STEPS[4]} PRAGMA user_version = 5; COMMIT;
    UPDATE inbox_open SET draft = 'p-1' WHERE n = 1;
    INSERT INTO conversations VALUES ('cl-2', 'work', 'small', 35);
    INSERT INTO sop_definitions VALUES (1, 'digest', '{}');
    INSERT INTO sop_runs VALUES (1, 'r-1', 'tidy', 1, 'auto', 'cron', '0 3 * * *', 'cron', NULL, NULL, 'fence', 36, NULL);
    INSERT INTO sop_active VALUES (1, 'tidy', 'pending', 1);`);
  db.close();
}

/** What the seventh release knew: all of that, traced, and sign-ins that last. */
function seventhRelease(): void {
  fifthRelease();
  const db = new DatabaseSync(home.file);
  db.exec(`BEGIN; ${STEPS[5]} ${STEPS[6]} PRAGMA user_version = 7; COMMIT;`);
  db.close();
}

/** The same with a conversation in the form of a model's messages, and one that was dropped. */
function seventhReleaseInWords(): void {
  seventhRelease();
  const said = JSON.stringify([
    { role: "user", content: [{ type: "text", text: "Where is the Café key?" }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hidden" },
        { type: "text", text: "Under the mat." },
      ],
    },
  ]);
  const again = JSON.stringify([{ role: "user", content: [{ type: "text", text: "thank you" }] }, "odd", 7, null]);
  const db = new DatabaseSync(home.file);
  const turn = db.prepare("INSERT INTO turns VALUES (?, ?, ?, ?, 1, 'gpt', ?, 5, 1, 1, NULL)");
  // Turns of a dropped conversation, whose row number another one has now.
  turn.run(10, 9, null, "t-old", said);
  db.exec("INSERT INTO dropped_chains VALUES (10)");
  turn.run(11, 9, null, "t-11", said);
  turn.run(12, 9, 11, "t-12", again);
  db.exec("INSERT INTO sessions VALUES (9, 's-9', 'cl-2', 'keys', 10, 20, 2, 12)");
  db.close();
}

/** Runs TypeScript in a process of its own, with the store's code and this test's file. */
const child = (code: string): [string, string[]] => [
  process.execPath,
  [
    "--input-type=module-typescript",
    "--eval",
    `import { DatabaseSync } from "node:sqlite";
     import { migrate, STEPS } from ${JSON.stringify(new URL("../src/engine/migrations.ts", import.meta.url))};
     const db = new DatabaseSync(${JSON.stringify(home.file)}, { timeout: 5000 });
     ${code}`,
  ],
];

test.each([
  [0, "b17ca66fb4ed800173aa3705efe40655bcba99133051b792f3b78cd80edb0100"],
  [1, "bf3baa3a0f90981312074ae7410b4713353372efdc12a11b7d04c2dbef3fb645"],
  [2, "66acc22b4935b9e021df86bed255d5ca380d1c45ddb5a761927250cc8f06126a"],
  [3, "8e0dff871b2ac9616794b3b5b38b9ec098ddd45f96fca2b38779c53e75dd5ae1"],
  [4, "e788079a263adcf828812fb0899a56e57265a246daab91ef7db33821528a9bc3"],
])("step %i is as it was released", (step, digest) => {
  expect(createHash("sha256").update(STEPS[step]!).digest("hex")).toBe(digest);
});

test("a database of the first release keeps everything, and what it used is summed up", () => {
  firstRelease();
  const store = home.open();
  expect(store.meta.get("local_client_id")).toBe("cl-1");
  expect(store.devices.all()).toEqual([
    { id: "d", tokenHash: "hash", clientId: "cl-2", name: "phone", scope: "operator", createdAt: 1, lastSeenAt: 2 },
  ]);
  const place = store.sessions.find("cl-2" as ClientId, "work")!;
  expect(store.sessions.recentTurns(place, 1000).map(({ id, messages }) => [id, messages])).toEqual([
    ["t-1", ["one"]],
    ["t-2", ["two"]],
  ]);
  expect(store.toolCalls.statesOf("t-1")).toEqual([{ callId: "c-1", tool: "shell", state: "finished" }]);
  expect(store.toolCalls.actionsSince("default", 0)).toEqual([15]);
  expect(store.idempotency.claim({ scope: "cl-2", key: "key" })).toBe("duplicate");
  const sums = { agent: "default", model: "gpt", turns: 1 };
  expect(store.usage.list("2026-01-01")).toEqual([
    { ...sums, day: "2026-01-01", inputTokens: 100, outputTokens: 10, costUsd: 0.25, unknownCostTurns: 0 },
    { ...sums, day: "2026-01-02", inputTokens: 200, outputTokens: 20, costUsd: 0, unknownCostTurns: 1 },
  ]);
  store.close();
  const db = new DatabaseSync(home.file);
  expect(db.prepare("PRAGMA auto_vacuum").get()).toEqual({ auto_vacuum: 2 });
  expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  db.close();
});

test("a database of the second release keeps everything, judges what it left running, and takes messages", async () => {
  secondRelease();
  const store = home.open();
  expect(store.vault.all()).toEqual([{ owner: "feature", name: "token", sealed: "sealed" }]);
  expect(store.usage.list("2026-01-01").map(({ turns }) => turns)).toEqual([1, 1]);
  expect(store.idempotency.claim({ scope: "cl-2", key: "ran" })).toBe("duplicate");
  expect(store.toolCalls.of("t-3")).toMatchObject([{ callId: "c-1", state: "interrupted" }]);
  expect(store.sessions.byId("s-1")).toMatchObject({ turns: 2 });
  expect([store.inbox.waiting(), store.outbox.waiting(), store.inbox.lost()]).toEqual([[], [], []]);
  await arrive(store, home.clock, message("room", "1"));
  await store.write(() => store.outbox.add([delivery("room")], 1));
  store.close();
  const report = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(report).toEqual({ schema: SCHEMA_VERSION, problems: [], complete: true });
});

test("a database of the fourth release keeps what waits in it, and takes drafts and choices", async () => {
  fourthRelease();
  const report = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(report).toEqual({ schema: 4, problems: [], complete: true });
  const store = home.open();
  const [message, lost, answer] = [store.inbox.read(1)!, store.inbox.lost(), store.outbox.read(1)!];
  expect(message).toMatchObject({ state: "waiting", attempts: 3, turnId: "t-4", error: "MODEL_UNREACHABLE" });
  expect(lost).toMatchObject([{ n: 2, turnId: "t-5" }]);
  expect(answer).toMatchObject({ state: "waiting", attempts: 3, text: "answer", deliveryId: "d-1" });
  expect([message, ...lost, answer].filter((row) => "draft" in row)).toEqual([]);
  await store.write(() => {
    store.inbox.drafted(1, "p-1");
    store.outbox.add([delivery("room", { draft: "p-1" })], 34);
    store.conversations.choose("cl-2" as ClientId, "work", "small", 35);
  });
  store.close();
  const again = home.open();
  expect([again.inbox.read(1)!.draft, again.outbox.read(2)!.draft]).toEqual(["p-1", "p-1"]);
  expect(again.conversations.modelOf("cl-2" as ClientId, "work")).toBe("small");
  again.close();
  const after = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(after).toEqual({ schema: SCHEMA_VERSION, problems: [], complete: true });
});

test("a database of the fifth release keeps what waits in it, and what comes from then on is traced", async () => {
  fifthRelease();
  const report = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(report).toEqual({ schema: 5, problems: [], complete: true });
  const store = home.open();
  const untraced = [store.inbox.read(1)!, ...store.inbox.lost(), store.outbox.read(1)!];
  expect(untraced).toMatchObject([{ draft: "p-1", attempts: 3 }, { turnId: "t-5" }, { text: "answer" }]);
  expect(untraced.filter((row) => "traceparent" in row || "waitTraceparent" in row)).toEqual([]);
  expect(store.sopRuns.read("r-1")).toMatchObject({ status: "pending", topic: "0 3 * * *", traceparent: undefined });
  expect(store.conversations.modelOf("cl-2" as ClientId, "work")).toBe("small");
  await store.write(() => store.inbox.begin(1, TRACEPARENT));
  expect(store.inbox.read(1)).toMatchObject({ waitTraceparent: TRACEPARENT });
  store.close();
  const after = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(after).toEqual({ schema: SCHEMA_VERSION, problems: [], complete: true });
});

test("a database of the seventh release has the turns it had, all of them with their answers, and takes open ones", async () => {
  seventhRelease();
  const report = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(report).toEqual({ schema: 7, problems: [], complete: true });
  const store = home.open();
  const place = store.sessions.find("cl-2" as ClientId, "work")!;
  expect(
    store.sessions.recentTurns(place, 100).map(({ id, state, replaced, meta }) => [id, state, replaced, meta]),
  ).toEqual(["t-1", "t-2"].map((id) => [id, "done", false, undefined]));
  expect(store.openTurns.all()).toEqual([]);
  const open = { turnId: "t-9", owner: "cl-2" as ClientId, name: "work", sessionId: "s-1", agent: "default" };
  await store.write(() => store.openTurns.add({ ...open, at: 40, text: "hello", meta: undefined }));
  store.close();
  const after = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(after).toEqual({ schema: SCHEMA_VERSION, problems: [], complete: true });
});

test("a database of the seventh release is listed with titles, and searched", async () => {
  seventhReleaseInWords();
  const store = home.open();
  expect(store.sessions.byId("s-9")).toMatchObject({
    title: "Where is the Café key?",
    titledBy: "words",
    preview: "thank you",
    unread: 0,
    isPinned: false,
    isArchived: false,
  });
  // No message of a model's form: nothing that could be a title.
  expect(store.sessions.byId("s-1")).toMatchObject({ title: "", preview: "", unread: 0 });
  const found = (query: string) => store.sessions.search(phrasesOf(query), {}, 10).map(({ turn: { id } }) => id);
  expect([found("cafe"), found("mat"), found("hidden"), found("thank")]).toEqual([["t-11"], ["t-11"], [], ["t-12"]]);
  expect(store.conversations.choiceOf("cl-2" as ClientId, "work")).toEqual({ model: "small", agent: undefined });
  store.close();
  const report = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(report).toEqual({ schema: SCHEMA_VERSION, problems: [], complete: true });
});

test("the key of a conversation keeps its value under its new name, and floors hold", async () => {
  fifthRelease();
  const before = new DatabaseSync(home.file);
  migrate(before, 14);
  before.exec(`INSERT INTO floors VALUES ('lane\nchat\nroom', 7);
    INSERT INTO sequences VALUES (1, 1, 8, 'lane\nchat\nroom');`);
  before.close();
  const store = home.open();
  expect([store.inbox.read(1), store.outbox.read(1)]).toMatchObject([
    { conversationKey: "room" },
    { conversationKey: "room" },
  ]);
  expect(store.inbox.waiting()).toMatchObject([{ n: 1, conversationKey: "room" }]);
  const numbered = (sequence: number) =>
    message("room", `${sequence}`, { dedupe: { key: `${sequence}`, forMs: 1000, sequence } });
  const limits = { sessionDays: 0, maxSessions: 0, toolCallDays: 30, messageDays: 30 };
  await store.prune(limits, home.clock.now());
  const arrived = await arrive(store, home.clock, ...[7, 8, 9].map(numbered));
  expect(arrived).toMatchObject({ messages: ["duplicate", "duplicate", { n: 3 }] });
  store.close();
});

test("the build before this one refuses it, and goes on with a backup of its own", () => {
  home.open().close();
  const newer = new DatabaseSync(home.file);
  expect(() => migrate(newer, SCHEMA_VERSION - 1)).toThrow(expect.objectContaining({ code: "STORE_NEWER" }));
  expect(schemaVersion(newer)).toBe(SCHEMA_VERSION);
  newer.close();
});

test("a backup of the second release is sound as it is", async () => {
  secondRelease();
  const report = await checkDatabase(home.file, { quick: false, clock: home.clock });
  expect(report).toEqual({ schema: 2, problems: [], complete: true });
});

test("killed in the middle of a step: the old schema is whole, and the next start takes the step", () => {
  firstRelease();
  const killed = spawnSync(
    ...child(`
    db.exec("PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN IMMEDIATE;" + STEPS[1]);
    process.kill(process.pid, "SIGKILL");`),
  );
  expect(killed.signal).toBe("SIGKILL");
  const db = new DatabaseSync(home.file);
  expect(schemaVersion(db)).toBe(1);
  expect(db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'usage'").get()).toEqual({ n: 0 });
  db.close();
  const store = home.open();
  expect(store.sessions.byId("s-1")).toMatchObject({ name: "work", turns: 2, place: { session: 7, lastTurn: 2 } });
  store.close();
});

test("two processes that open it at once both find the new schema", async () => {
  firstRelease();
  const both = [0, 1].map(() => spawn(...child("migrate(db);"), { stdio: ["ignore", "ignore", "pipe"] }));
  const ends = await Promise.all(both.map((one) => once(one, "close")));
  expect(ends.map(([code]) => code)).toEqual([0, 0]);
  const db = new DatabaseSync(home.file);
  expect(schemaVersion(db)).toBe(SCHEMA_VERSION);
  db.close();
});

test("who waited for another's step does not take it again", () => {
  firstRelease();
  const other = new DatabaseSync(home.file);
  const db = new DatabaseSync(home.file);
  // Between this one's first look and its lock, the other is quicker.
  const exec = db.exec.bind(db);
  db.exec = (sql) => {
    if (sql === "BEGIN IMMEDIATE") migrate(other);
    exec(sql);
  };
  migrate(db);
  expect(schemaVersion(db)).toBe(SCHEMA_VERSION);
  db.close();
  other.close();
});

test("a database of a newer version is refused, untouched", () => {
  home.open().close();
  const db = new DatabaseSync(home.file);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  db.close();
  expect(() => home.open()).toThrow(expect.objectContaining({ code: "STORE_NEWER", exitCode: 78 }));
  const again = new DatabaseSync(home.file);
  expect(schemaVersion(again)).toBe(SCHEMA_VERSION + 1);
  again.close();
});

test("an approval that an older svc asked is there without what only newer ones tell, and can be answered", async () => {
  fifthRelease();
  const db = new DatabaseSync(home.file);
  db.exec(`BEGIN; ${STEPS[5]} ${STEPS[6]} PRAGMA user_version = 7; COMMIT;
    INSERT INTO approvals VALUES (3, 't-1', 'c-1', 'tool', 'waiting', x'00', 1, 99999999999999, 'me', '[]', '[]', '[]', 't', 'm',
      NULL, NULL, NULL, NULL, NULL);`);
  db.close();
  const store = home.open();
  expect(store.approvals.read(3)).toMatchObject({ n: 3, title: "t", status: "waiting" });
  expect(Object.keys(store.approvals.read(3)!)).not.toContain("offers");
  const answer = { by: "me", via: "cli", feedback: undefined, atMs: 5, holds: "once" } as const;
  expect(await store.write(() => store.approvals.settle(3, "approved", answer))).toBe(true);
  expect(store.approvals.read(3)?.answer?.holds).toBe("once");
  store.close();
});

test("NEWEST_SCHEMA is the digest of the newest schema", () => {
  home.open().close();
  const db = new DatabaseSync(home.file);
  const texts = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  const digest = createHash("sha256").update(JSON.stringify(texts)).digest("base64url");
  expect(NEWEST_SCHEMA).toBe(digest);
  expect(isNewestSchema(db)).toBe(true);
  db.close();
});

test("a start compiles few statements; a schema that lacks something is refused at the start all the same", () => {
  home.open().close();
  const compile = vi.spyOn(DatabaseSync.prototype, "prepare");
  const compiled = (change = ""): number => {
    const db = new DatabaseSync(home.file);
    db.exec(change);
    db.close();
    compile.mockClear();
    home.open().close();
    return compile.mock.calls.length;
  };
  try {
    expect(compiled()).toBeLessThan(60);
    // Another schema than the newest one: all of them, and each compiles.
    expect(compiled("CREATE INDEX added ON devices (name)")).toBeGreaterThan(200);
    for (const change of ["ALTER TABLE uploads DROP COLUMN name", "DROP TABLE grants"]) {
      expect(() => compiled(change)).toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
      home[Symbol.dispose]();
      home = fixture();
      home.open().close();
    }
  } finally {
    compile.mockRestore();
  }
});

test("a new database takes all steps in one transaction, an older one each in its own", () => {
  const run = vi.spyOn(DatabaseSync.prototype, "exec");
  const begins = (): number => run.mock.calls.filter(([sql]) => sql === "BEGIN IMMEDIATE").length;
  try {
    const db = new DatabaseSync(":memory:");
    migrate(db);
    expect([begins(), schemaVersion(db)]).toEqual([1, SCHEMA_VERSION]);
    firstRelease();
    const old = new DatabaseSync(home.file);
    run.mockClear();
    migrate(old);
    expect([begins(), schemaVersion(old)]).toEqual([SCHEMA_VERSION - 1, SCHEMA_VERSION]);
    old.close();
  } finally {
    run.mockRestore();
  }
});
