/** Procedures without a workspace: one by hand, and those that a test gives a path. Runs are started inside `write` only. */
import { type Json, SvcError } from "@svc/contract";
import type {
  BrokenSop,
  Dispatched,
  Pending,
  SopCalendar,
  SopDefinition,
  SopRetry,
  SopRunDetail,
  SopRunFilter,
  SopRunPage,
  SopSample,
  SopSummary,
  SopTriggerEvent,
  Starter,
} from "@svc/sop";
import type { AuditEntry, SopRun } from "@svc/store";
import type { GatewaySops } from "../src/index.ts";

export interface Started extends SopTriggerEvent {
  readonly by: string;
}

export class FakeSops implements GatewaySops {
  /** By path, what an event of it is answered with. */
  readonly paths = new Map<string, Dispatched>();
  /** What started something and is on disk, in order. */
  readonly started: Started[] = [];
  /** The same, once it was told of. */
  committed = 0;
  /** As long as it is set, nothing can be started or stopped. */
  fails: Error | undefined;
  /** As long as it is set, whatever is asked throws it. */
  unforeseen: Error | undefined;
  /** Whether a transaction runs. */
  inTransaction = false;
  readonly runRows: SopRun[] = [runOf("run-1", 1, "deploy", "completed"), runOf("run-2", 2, "deploy", "running")];
  readonly entries: AuditEntry[] = [1, 2, 3].map((n) => ({
    n,
    atMs: n * 1000,
    kind: "sop-run-start",
    data: { run_id: `run-${n}` },
    hash: "0".repeat(64),
  }));
  readonly asked: SopRunFilter[] = [];

  hasPath(path: string): boolean {
    if (this.unforeseen) throw this.unforeseen;
    return this.paths.has(path);
  }

  dispatchIn(event: SopTriggerEvent, { by }: Starter): Pending<Dispatched> {
    if (!this.inTransaction) throw new Error("outside of a transaction");
    if (this.fails) throw this.fails;
    this.started.push({ ...event, by });
    return {
      result: this.paths.get(event.topic) ?? { runs: [], skipped: [] },
      committed: () => (this.committed += 1),
    };
  }

  async run(name: string, payload: string | null, { by }: Starter): Promise<SopRun> {
    await Promise.resolve();
    if (name === "by-webhook") throw new SvcError("SOP_NOT_MANUAL");
    if (name !== "deploy") throw new SvcError("SOP_UNKNOWN");
    if (this.fails) throw this.fails;
    const run = { ...runOf("run-3", 3, name, "pending"), payload, startedBy: by };
    this.runRows.push(run);
    return run;
  }

  async test(name: string, { payload }: SopSample, { by }: Starter): Promise<SopRun> {
    await Promise.resolve();
    if (name !== "deploy") throw new SvcError("SOP_UNKNOWN");
    if (this.fails) throw this.fails;
    const run = { ...runOf("run-3", 3, name, "pending"), payload, startedBy: by, isTest: true };
    this.runRows.push(run);
    return run;
  }

  async retry(id: string, step: number, { by }: Starter): Promise<SopRetry> {
    await Promise.resolve();
    const old = this.runRows.find((one) => one.id === id);
    if (!old) throw new SvcError("SOP_RUN_UNKNOWN");
    if (this.fails) throw this.fails;
    const run = { ...runOf("run-3", 3, old.sop, "pending"), startedBy: by, retryOf: id, firstStep: step };
    this.runRows.push(run);
    return { run, asks: [step] };
  }

  async calendar(days: number, sop = "deploy"): Promise<SopCalendar> {
    await Promise.resolve();
    if (this.unforeseen) throw this.unforeseen;
    const times = { sop, expression: "0 3 * * *", timezone: undefined, atMs: [5_000], hasMore: true };
    return { fromMs: 0, untilMs: days * 86_400_000, times: [times], left: 0 };
  }

  list(): readonly SopSummary[] {
    if (this.unforeseen) throw this.unforeseen;
    return [
      { definition: DEFINITION, problem: undefined, activeRuns: 1, lastRun: this.runRows[0], nextAtMs: [5_000] },
      {
        definition: { ...DEFINITION, name: "quiet", agent: "ops", triggers: [], steps: [] },
        problem: "SOP.toml:3: that is no path.",
        activeRuns: 0,
        lastRun: undefined,
        nextAtMs: [],
      },
    ];
  }

  broken(): readonly BrokenSop[] {
    return [{ name: "torn", problem: "There is no [sop]." }];
  }

  runs(filter: SopRunFilter, limit: number): SopRunPage {
    this.asked.push(filter);
    const { sop, status, before = Infinity } = filter;
    const all = this.runRows
      .toReversed()
      .filter((run) => run.n < before && (!sop || run.sop === sop) && (!status || run.status === status));
    return { runs: all.slice(0, limit), next: all.length > limit ? all[limit - 1]!.n : undefined };
  }

  readRun(id: string): SopRunDetail {
    const run = this.runRows.find((one) => one.id === id);
    if (!run) throw new SvcError("SOP_RUN_UNKNOWN");
    return {
      run,
      steps: [
        { runN: run.n, step: 1, status: "completed", startedAtMs: 1_000, endedAtMs: 2_000, output: { built: true } },
        { runN: run.n, step: 2, status: "waiting_approval", startedAtMs: 2_000, endedAtMs: undefined, output: null },
      ],
    };
  }

  async cancel(id: string, by: string): Promise<SopRun> {
    const index = this.runRows.findIndex((run) => run.id === id);
    const run = this.runRows[index];
    if (!run) throw new SvcError("SOP_RUN_UNKNOWN");
    if (this.fails) throw this.fails;
    if (run.endedAtMs !== undefined) throw new SvcError("SOP_RUN_ENDED");
    const ended: SopRun = { ...run, status: "cancelled", endedAtMs: 9_000, reason: `Cancelled by ${by}.` };
    this.runRows[index] = ended;
    await Promise.resolve();
    return ended;
  }

  readonly audit: GatewaySops["audit"] = {
    list: (limit, before = Infinity) => {
      if (this.unforeseen) throw this.unforeseen;
      const all = this.entries.toReversed().filter(({ n }) => n < before);
      return { entries: all.slice(0, limit), next: all.length > limit ? all[limit - 1]!.n : undefined };
    },
  };
}

const DEFINITION: SopDefinition = {
  name: "deploy",
  description: "Puts a version into production.",
  version: "1",
  priority: "normal",
  mode: "supervised",
  cooldownMs: 60_000,
  maxConcurrent: 1,
  agent: undefined,
  triggers: [
    { type: "webhook", path: "/sop/deploy", condition: "$.ref == 'main'" },
    { type: "cron", expression: "0 3 * * *", timezone: "Europe/Berlin", condition: undefined },
    { type: "channel_event", event: "build", condition: undefined },
    { type: "manual", condition: undefined },
  ],
  steps: [
    { number: 1, title: "Build", body: "", kind: "execute", requiresConfirmation: false, tools: ["shell"] },
    { number: 2, title: "Deploy", body: "", kind: "checkpoint", requiresConfirmation: true, tools: [] },
    { number: 3, title: "Tell", body: "", kind: "execute", requiresConfirmation: false, tools: [] },
  ],
  instructions: "",
};

const runOf = (id: string, n: number, sop: string, status: SopRun["status"]): SopRun => ({
  n,
  id,
  sop,
  definition: DEFINITION as unknown as Json,
  mode: "supervised",
  status,
  step: 1,
  source: "webhook",
  topic: "/sop/deploy",
  payload: '{"ref":"main"}',
  startedBy: "webhook /sop/deploy",
  startedByAgent: undefined,
  traceparent: undefined,
  isTest: false,
  retryOf: undefined,
  firstStep: 1,
  startedAtMs: 1_000,
  endedAtMs: status === "completed" ? 3_000 : undefined,
  error: undefined,
  reason: undefined,
});
