// Runs of procedures that a list does not show, that retention keeps for ever or removes too early, or that make lists slow.
import type { ClientId } from "@svc/contract";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { checkDatabase, type NewSopRun, type SopRun } from "../src/index.ts";
import { migrate } from "../src/engine/migrations.ts";
import { selectRuns } from "../src/sop-runs.ts";
import { crash, home, reopen, store, storeForEachTest } from "./each-test.ts";

storeForEachTest();

const DAY_MS = 86_400_000;
const LIMITS = { sessionDays: 0, maxSessions: 0, toolCallDays: 1, messageDays: 30 };

const newRun = (id: string, more: Partial<NewSopRun> = {}): NewSopRun => ({
  id: `r-${id.padStart(36, "0")}`,
  sop: "deploy",
  definition: { steps: [{ title: "one" }] },
  mode: "auto",
  source: "manual",
  topic: "deploy",
  payload: '{"a":1}',
  startedBy: "a test",
  startedByAgent: undefined,
  startedAtMs: home.clock.now(),
  fence: `fence-${id}`,
  ...more,
});

const begin = (id: string, more?: Partial<NewSopRun>): Promise<SopRun> =>
  store.write(() => store.sopRuns.add(newRun(id, more)));
const end = (run: SopRun, status: "completed" | "failed" | "cancelled" = "completed"): Promise<boolean> =>
  store.write(() => store.sopRuns.end(run.n, { status }, home.clock.now()));

test("a run is what it was begun as, and where it is now, over a kill", async () => {
  const run = await begin("a", { startedByAgent: "clerk", key: "t:c" });
  expect(run).toMatchObject({ n: 1, status: "pending", step: 1 });
  await store.write(() => {
    store.sopRuns.move(run.n, "running", 2);
    store.sopRuns.steps.set(run.n, 2, "waiting_approval", 5);
    store.sopRuns.steps.set(run.n, 2, "running", 9);
  });
  crash();
  expect(store.sopRuns.read(run.id)).toEqual({ ...run, status: "running", step: 2 });
  expect(store.sopRuns.byKey("t:c")?.id).toBe(run.id);
  expect(store.sopRuns.fence(run.n)).toBe("fence-a");
  expect(store.sopRuns.steps.of(run.n)).toEqual([
    { runN: 1, step: 2, status: "running", startedAtMs: 5, endedAtMs: undefined, output: null },
  ]);
  expect([store.sopRuns.has(run.id), store.sopRuns.has("r-none"), store.sopRuns.read("r-none")]).toEqual([
    true,
    false,
    undefined,
  ]);
});

test("a run ends once, and nothing moves it afterwards", async () => {
  const run = await begin("a");
  expect(await end(run, "failed")).toBe(true);
  expect(await end(run)).toBe(false);
  expect(await store.write(() => store.sopRuns.move(run.n, "running", 5))).toBe(false);
  expect(store.sopRuns.read(run.id)).toMatchObject({ status: "failed", step: 1, endedAtMs: home.clock.now() });
});

test("an id and a key are given once", async () => {
  await begin("a", { key: "k" });
  await expect(begin("a")).rejects.toMatchObject({ code: "STORE_FAILED" });
  await expect(begin("b", { key: "k" })).rejects.toMatchObject({ code: "STORE_FAILED" });
  expect(store.sopRuns.countActive("deploy")).toBe(1);
});

test("the last end of a procedure is known for longer than its runs", async () => {
  const run = await begin("a");
  await begin("b");
  const endedMs = home.clock.now();
  await end(run);
  await store.prune(LIMITS, endedMs + 40 * DAY_MS);
  expect(store.sopRuns.read(run.id)).toBeUndefined();
  expect(store.sopRuns.lastEndMs("deploy")).toBe(endedMs);
  expect(store.sopRuns.lastEndMs("other")).toBeUndefined();
});

test("retention removes runs that ended long ago with all that is theirs, and never a line of the audit log", async () => {
  const runs: SopRun[] = [];
  for (let n = 0; n < 50; n += 1) runs.push(await begin(`${n}`, { definition: { of: n } }));
  await store.write(() => {
    for (const run of runs) {
      store.sopRuns.steps.set(run.n, 1, "running", 0);
      store.audit.add("sop-run-start", { run_id: run.id });
    }
  });
  for (const run of runs.slice(0, 45)) await end(run);
  await store.prune(LIMITS, home.clock.now() + 31 * DAY_MS);
  expect(store.sopRuns.list({}, 100).map(({ n }) => n)).toEqual([50, 49, 48, 47, 46]);
  const db = new DatabaseSync(home.file, { readOnly: true });
  const count = (table: string) => (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  expect(["sop_ended", "sop_steps", "sop_definitions"].map(count)).toEqual([0, 5, 5]);
  db.close();
  expect(await store.audit.verify()).toMatchObject({ entries: 50, brokenAt: undefined });
  expect((await checkDatabase(home.file, { quick: false, clock: home.clock })).problems).toEqual([]);
});

test("the journal of a step that waits for longer than tool calls are kept stays: its call must not be made again", async () => {
  const run = await begin("a");
  const gone = await begin("b");
  await store.write(() => {
    for (const { id, n } of [run, gone]) {
      store.sopRuns.move(n, "running", 2);
      store.toolCalls.start({
        turnId: `sop-${id}-2`,
        callId: "call",
        agent: "a",
        client: "c" as ClientId,
        tool: "act",
        acting: true,
        input: {},
      });
      store.toolCalls.finish(`sop-${id}-2`, "call", "interrupted", null);
    }
  });
  await end(gone);
  await store.prune(LIMITS, home.clock.now() + 5 * DAY_MS);
  expect(store.toolCalls.of(`sop-${run.id}-2`)).toHaveLength(1);
  expect(store.toolCalls.of(`sop-${gone.id}-2`)).toEqual([]);
});

test("turns that an ended run has left are found, others are not", async () => {
  const [going, ended] = [await begin("a"), await begin("b")];
  await end(ended);
  await store.write(() => {
    for (const turnId of [`sop-${going.id}-1`, `sop-${ended.id}-3`, "t-1", "sop", "sop-x-1"]) {
      store.steps.add(turnId, { message: {}, inputTokens: 0, outputTokens: 0 });
    }
  });
  reopen();
  expect(store.sopRuns.strayTurns()).toEqual([{ turnId: `sop-${ended.id}-3`, runId: ended.id }]);
});

test("lists hold what was asked for, page by page", async () => {
  const runs: SopRun[] = [];
  for (let n = 0; n < 30; n += 1) runs.push(await begin(`${n}`, { sop: n % 3 === 0 ? "a" : "b" }));
  for (const run of runs.slice(0, 20)) await end(run, run.n % 2 === 0 ? "completed" : "failed");
  const numbers = (query: Parameters<typeof store.sopRuns.list>[0], limit = 100) =>
    store.sopRuns.list(query, limit).map(({ n }) => n);
  const all = runs.map(({ n }) => n).toReversed();
  expect(numbers({})).toEqual(all);
  expect(numbers({ before: 11 }, 3)).toEqual([10, 9, 8]);
  expect(numbers({ sop: "a" })).toEqual(all.filter((n) => n % 3 === 1));
  expect(numbers({ status: "pending" })).toEqual(all.filter((n) => n > 20));
  expect(numbers({ status: "running" })).toEqual([]);
  expect(numbers({ status: "failed" })).toEqual(all.filter((n) => n <= 20 && n % 2 === 1));
  expect(numbers({ status: "failed", sop: "a", before: 10 })).toEqual([7, 1]);
  expect(store.sopRuns.newest("b")?.n).toBe(30);
  expect([store.sopRuns.countActive("a"), store.sopRuns.countAllActive(100), store.sopRuns.countAllActive(4)]).toEqual([
    3, 10, 4,
  ]);
});

test("no list walks the runs that it does not show", async () => {
  const db = new DatabaseSync(":memory:");
  migrate(db);
  const plan = (sql: string) =>
    (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail).join("; ");
  for (const [by, where] of [
    ["r", "r.n < 5"],
    ["r", "r.n < 5 AND r.sop = 'a'"],
    ["e", "e.n < 5 AND e.status = 'failed'"],
    ["e", "e.n < 5 AND e.sop = 'a' AND e.status = 'failed'"],
    ["a", "a.n < 5 AND a.status = 'running'"],
  ] as const) {
    const steps = plan(`${selectRuns(by)} WHERE ${where} ORDER BY ${by}.n DESC LIMIT 5`);
    expect([where, steps]).toEqual([where, expect.not.stringMatching(/SCAN|TEMP B-TREE/)]);
  }
});

test("the check of the database finds a run in two states, or in none", async () => {
  const [one, two] = [await begin("a"), await begin("b")];
  await end(one);
  const db = new DatabaseSync(home.file);
  db.exec(
    `INSERT INTO sop_active VALUES (${one.n}, 'deploy', 'running', 1); DELETE FROM sop_active WHERE n = ${two.n}`,
  );
  db.close();
  const { problems } = await checkDatabase(home.file, { quick: true, clock: home.clock });
  expect(problems).toEqual(["2 runs of procedures neither go on nor have ended, or both."]);
});
