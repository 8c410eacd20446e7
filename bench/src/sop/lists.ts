/** What people wait for when years of runs lie behind: against as many as make a page. */
import { join } from "node:path";
import { systemClock } from "@svc/kit/system-clock";
import { openStore, type Store } from "@svc/store";
import { BINARY, paired, startDaemon } from "../gateway.ts";
import { median, timed } from "../measure.ts";
import { startServer } from "../server.ts";

export interface ListTime {
  readonly name: string;
  readonly fewMs: number;
  readonly manyMs: number;
}

interface Behind {
  /** Those that have ended. */
  readonly runs: number;
  /** Approvals. */
  readonly waiting: number;
}

/** Of each list one page. */
const FEW: Behind = { runs: 200, waiting: 50 };
const MANY: Behind = { runs: 10_000, waiting: 100 };
const REQUESTS = 100;

const PATHS = ["/api/approvals?status=waiting", "/api/sop-runs", "/api/sop-runs?status=failed", "/api/audit"] as const;
const COMMANDS = [
  ["approvals", "list"],
  ["sop", "runs"],
] as const;

export async function measureLists(rounds: number): Promise<ListTime[]> {
  const few = await measured(FEW, rounds);
  const many = await measured(MANY, rounds);
  return [...few].map(([name, fewMs]) => ({ name, fewMs, manyMs: many.get(name)! }));
}

async function measured(behind: Behind, rounds: number): Promise<Map<string, number>> {
  const first = await paired(await startDaemon("[gateway]\nwebhook_rate_limit_per_minute = 0\n"));
  const { home, token } = first;
  const times = new Map<string, number>();
  try {
    await first.pause();
    await seed(home, behind);
    const env = { ...process.env, SVC_HOME: home, SVC__GATEWAY__PORT: "0" };
    const starts: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const daemon = await startServer([BINARY, "daemon"], env);
      starts.push(daemon.startMs);
      await daemon.stop();
    }
    times.set("svc daemon listens", median(starts));
    const daemon = await startServer([BINARY, "daemon"], env);
    for (const path of PATHS) times.set(`GET ${path}`, await requested(daemon.port, token, path));
    for (const words of COMMANDS) {
      const samples = Array.from({ length: rounds }, () => timed(BINARY, words, env));
      times.set(`svc ${words.join(" ")}`, median(samples));
    }
    await daemon.stop();
    return times;
  } finally {
    first.remove();
  }
}

async function requested(port: number, token: string, path: string): Promise<number> {
  const samples: number[] = [];
  // The first half is for the compiler.
  for (let count = 0; count < 2 * REQUESTS; count += 1) {
    const beganAt = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`);
    samples.push(performance.now() - beganAt);
  }
  return median(samples.slice(REQUESTS));
}

async function seed(home: string, { runs, waiting }: Behind): Promise<void> {
  const file = join(home, "state", "svc.db");
  const store = openStore({ file, clock: systemClock, idempotency: { ttlMs: 300_000, maxKeys: 100 } });
  await store.write(() => {
    for (let index = 1; index <= runs; index += 1) addRun(store, index);
    for (let index = 1; index <= waiting; index += 1) addApproval(store, index);
  });
  store.close();
}

const DEFINITION = {
  name: "bench",
  description: "One of many",
  version: "1",
  priority: "normal",
  mode: "auto",
  cooldownMs: 0,
  maxConcurrent: 1,
  triggers: [{ type: "manual" }],
  steps: [{ number: 1, title: "Look", body: "", kind: "execute", requiresConfirmation: false, tools: [] }],
  instructions: "",
};

function addRun({ sopRuns, audit }: Store, index: number): void {
  const atMs = systemClock.now() - MANY.runs + index;
  const id = `r-${index}`;
  const { n } = sopRuns.add({
    id,
    sop: "bench",
    definition: DEFINITION,
    mode: "auto",
    source: "manual",
    topic: "bench",
    payload: JSON.stringify({ index, text: "x".repeat(200) }),
    startedBy: "the bench",
    startedByAgent: undefined,
    startedAtMs: atMs,
    fence: "f".repeat(32),
  });
  const status = index % 4 === 0 ? "failed" : "completed";
  sopRuns.steps.set(n, 1, "running", atMs);
  sopRuns.steps.end(n, 1, { status, output: "It is done." }, atMs);
  sopRuns.end(n, { status }, atMs);
  audit.add("sop-run-start", { run_id: id, sop: "bench", version: "1" });
  audit.add("sop-run-end", { run_id: id, sop: "bench", status });
}

function addApproval({ approvals }: Store, index: number): void {
  approvals.add({
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
    createdAtMs: systemClock.now(),
    expiresAtMs: systemClock.now() + 86_400_000,
  });
}
