// A service that has run for years has thousands of runs behind it: each list is a page, all pages together are everything
// once, and a start reads what has not ended and nothing else.
import { systemClock } from "@svc/kit/system-clock";
import { openStore, type Store } from "@svc/store";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manual, type ProceduresFixture, startProcedures, steps } from "./procedures-fixture.ts";

const RUNS = 10_000;
const WAITING = 100;
const ANSWERED = 250;
const AT_MS = Date.UTC(2026, 0, 1);

const definition = {
  name: "old",
  description: "",
  version: "1",
  priority: "normal",
  mode: "auto",
  cooldownMs: 0,
  maxConcurrent: 1,
  triggers: [{ type: "manual" }],
  steps: [{ number: 1, title: "Look", body: "", kind: "execute", requiresConfirmation: false, tools: [] }],
  instructions: "",
};

function addRun({ sopRuns }: Store, index: number): void {
  const run = sopRuns.add({
    id: `r-${String(index).padStart(5, "0")}`,
    sop: index % 2 === 0 ? "old" : "older",
    definition,
    mode: "auto",
    source: "manual",
    topic: "old",
    payload: JSON.stringify({ index, text: "x".repeat(200) }),
    startedBy: "the test",
    startedByAgent: undefined,
    startedAtMs: AT_MS + index,
    fence: "f".repeat(32),
  });
  sopRuns.steps.set(run.n, 1, "running", AT_MS + index);
  const status = index % 4 === 0 ? "failed" : "completed";
  sopRuns.steps.end(run.n, 1, { status, output: "It is done." }, AT_MS + index);
  sopRuns.end(run.n, { status }, AT_MS + index);
}

function addApproval({ approvals }: Store, index: number): void {
  const n = approvals.add({
    runId: `build-${index}`,
    stepId: "release",
    origin: "external",
    title: `Release ${index}`,
    message: "All is green.",
    approveKeywords: ["approve"],
    rejectKeywords: ["reject"],
    channels: [],
    askedBy: "a program on this machine",
    digest: "ab".repeat(32),
    createdAtMs: AT_MS + index,
    expiresAtMs: Date.UTC(2100, 0, 1),
  });
  if (index > ANSWERED) return;
  approvals.settle(n, "approved", { by: "somebody", via: "api", atMs: AT_MS + index, feedback: undefined });
}

async function seed(home: string): Promise<void> {
  const file = join(home, "state", "svc.db");
  const store = openStore({ file, clock: systemClock, idempotency: { ttlMs: 300_000, maxKeys: 100 } });
  await store.write(() => {
    for (let index = 1; index <= RUNS; index += 1) addRun(store, index);
    for (let index = 1; index <= ANSWERED + WAITING; index += 1) addApproval(store, index);
  });
  store.close();
}

interface Page<Row> {
  readonly rows: readonly Row[];
  readonly before: number | null;
}

/** All pages, one after the other; how many rows each had. */
async function pages<Row>(read: (before: string) => Promise<Page<Row>>): Promise<{ sizes: number[]; rows: Row[] }> {
  const sizes: number[] = [];
  const rows: Row[] = [];
  for (let before = ""; ;) {
    const page = await read(before);
    sizes.push(page.rows.length);
    rows.push(...page.rows);
    if (page.before === null) return { sizes, rows };
    before = `&before=${page.before}`;
  }
}

type Ids = readonly { readonly id: string }[];
type Numbers = readonly { readonly n: number }[];

const runPages = (fixture: ProceduresFixture, query: string) =>
  pages(async (before) => {
    const { body } = await fixture.api<{ runs: Ids; before: number | null }>(`/api/sop-runs?${query}${before}`);
    return { rows: body.runs.map(({ id }) => id), before: body.before };
  });

const approvalPages = (fixture: ProceduresFixture, query: string) =>
  pages(async (before) => {
    const path = `/api/approvals?${query}${before}`;
    const { body } = await fixture.api<{ approvals: Numbers; before: number | null }>(path);
    return { rows: body.approvals.map(({ n }) => n), before: body.before };
  });

const down = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from - index);

test("10 000 runs and 350 approvals: every list is a page, and the pages together are all of it, once, in order", async () => {
  await using fixture = await startProcedures();
  await fixture.write({ old: { toml: manual('execution_mode = "auto"'), md: steps("Say so.") } });
  await fixture.killed();
  await seed(fixture.home);
  await fixture.begin();

  const all = await runPages(fixture, "limit=200");
  expect([new Set(all.sizes), all.rows.length]).toEqual([new Set([200]), RUNS]);
  expect(all.rows).toEqual(down(RUNS, RUNS).map((index) => `r-${String(index).padStart(5, "0")}`));
  const failed = await runPages(fixture, "sop=old&status=failed&limit=200");
  expect([failed.rows.length, new Set(failed.rows).size, failed.sizes.at(-1)]).toEqual([RUNS / 4, RUNS / 4, 100]);
  expect((await runPages(fixture, "sop=nobody")).sizes).toEqual([0]);
  expect((await fixture.api<{ runs: Ids }>("/api/sop-runs")).body.runs).toHaveLength(50);
  expect((await fixture.api("/api/sop-runs?limit=201")).status).toBe(400);

  const waiting = await approvalPages(fixture, "status=waiting&limit=60");
  expect([waiting.sizes, waiting.rows]).toEqual([[60, 40], down(ANSWERED + WAITING, WAITING)]);
  expect((await approvalPages(fixture, "limit=200")).sizes).toEqual([200, 150]);
  expect((await fixture.api<{ approvals: Numbers }>("/api/approvals")).body.approvals).toHaveLength(50);

  // A page does not grow with what lies behind it.
  const size = async (path: string): Promise<number> => JSON.stringify((await fixture.api(path)).body).length;
  expect(await size("/api/sop-runs")).toBeLessThan(50 * 600);
  expect(await size("/api/sops")).toBeLessThan(5_000);

  const svc = async <T>(...words: string[]): Promise<T> => fixture.chat.json<T>(...words);
  expect((await svc<{ approvals: Numbers }>("approvals", "list")).approvals).toHaveLength(50);
  expect((await svc<{ approvals: Numbers }>("approvals", "list", "--limit", "1000")).approvals).toHaveLength(WAITING);
  expect((await svc<{ runs: Ids }>("sop", "runs")).runs).toHaveLength(50);
  expect((await svc<{ runs: Ids }>("sop", "runs", "old", "--limit", "1000")).runs).toHaveLength(1_000);
  expect((await fixture.chat.svc("sop", "runs", "--limit", "1001")).code).toBe(64);

  // The start took up nothing of it, and there is room for another one.
  expect(fixture.model.requests).toHaveLength(0);
  expect(await fixture.becomes(await fixture.run("old"), "completed")).toMatchObject({ n: RUNS + 1 });
});
