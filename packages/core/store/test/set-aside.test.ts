// A backup that is put back answers, days later, what was answered long ago, or loses what waited when it was made.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { checkDatabase, type NewApproval, openStore, setAsideWaiting, skipApprovalNumbers } from "../src/index.ts";
import { STEPS } from "../src/engine/migrations.ts";
import { arrive, delivery, fixture, message } from "./fixture.ts";

const NOTICE = message("notice", undefined, { kind: "notice" });

test("what waits is dropped as it is, and can be replayed; what has ended and notices stay as they are", async () => {
  using home = fixture();
  const before = home.open();
  await arrive(before, home.clock, ...["answered", "waits", "tried"].map((key) => message(key)), NOTICE);
  await before.write(() => {
    before.inbox.end(1, "done");
    before.inbox.failed(3, "MODEL_UNREACHABLE");
    before.outbox.add(
      ["sent", "dead", "waits"].map((id) => delivery(id)),
      home.clock.now(),
    );
    before.outbox.sent(1, "p-1", home.clock.now());
    before.outbox.dead(2, "DELIVERY_REFUSED", home.clock.now());
  });
  before.close();

  expect(setAsideWaiting(home.file, home.clock)).toEqual({ messages: 2, deliveries: 1 });
  expect(setAsideWaiting(home.file, home.clock)).toEqual({ messages: 0, deliveries: 0 });
  expect((await checkDatabase(home.file, { quick: false, clock: home.clock })).problems).toEqual([]);
  const after = home.open();
  expect([1, 2, 3, 4].map((n) => after.inbox.read(n)!.state)).toEqual(["done", "dropped", "dropped", "waiting"]);
  expect(after.inbox.read(3)).toMatchObject({ attempts: 1, error: "MODEL_UNREACHABLE" });
  expect([1, 2, 3].map((n) => after.outbox.read(n)!.state)).toEqual(["sent", "dead", "dropped"]);
  expect(after.inbox.waiting().map(({ n }) => n)).toEqual([4]);
  await after.write(() => after.inbox.reopen(2));
  expect(after.inbox.waiting().map(({ n }) => n)).toEqual([2, 4]);
  after.close();
});

test("a database of an older svc has no messages", () => {
  using home = fixture();
  const db = new DatabaseSync(home.file);
  for (const step of STEPS.slice(0, 2)) db.exec(step);
  db.exec("PRAGMA user_version = 2");
  db.close();
  expect(setAsideWaiting(home.file, home.clock)).toEqual({ messages: 0, deliveries: 0 });
});

test("what is no database is an error of the store", () => {
  using home = fixture();
  expect(() => setAsideWaiting(home.folder, home.clock)).toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
});

const asked = (runId: string): NewApproval => ({
  runId,
  stepId: "1",
  origin: "external",
  title: "Deploy?",
  message: "",
  approveKeywords: ["yes"],
  rejectKeywords: ["no"],
  channels: [],
  askedBy: "a program",
  digest: "ab".repeat(32),
  createdAtMs: 1,
  expiresAtMs: 2,
});

test("a number under which something was asked since the backup never means another approval", async () => {
  using home = fixture();
  const store = home.open();
  await store.write(() => store.approvals.add(asked("before")));
  const backup = join(home.folder, "backup.db");
  await store.backupTo(backup);
  const since = await store.write(() => ["a", "b", "c"].map((run) => store.approvals.add(asked(run))));

  skipApprovalNumbers(backup, home.file);
  store.close();
  expect((await checkDatabase(backup, { quick: false, clock: home.clock })).problems).toEqual([]);
  const restored = openStore({ file: backup, clock: home.clock, idempotency: { ttlMs: 1, maxKeys: 1 } });
  const next = await restored.write(() => restored.approvals.add(asked("after")));
  restored.close();
  expect(next).toBeGreaterThan(Math.max(...since));
});

test("numbers are skipped too where nothing was asked yet, or what is in force can't be read", async () => {
  using home = fixture();
  home.open().close();
  skipApprovalNumbers(home.file, join(home.folder, "missing.db"));
  const store = home.open();
  expect(await store.write(() => store.approvals.add(asked("first")))).toBeGreaterThan(1);
  store.close();
});
