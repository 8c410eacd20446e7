/** Deliveries that may not pile up: in bursts, each of which comes when all before it are done. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type BenchDaemon, BINARY } from "../gateway.ts";
import type { LoadResult } from "../load.ts";
import { median } from "../measure.ts";
import { load } from "../server.ts";

export interface Bursts {
  readonly provider: string;
  readonly connections: number;
  /** Of each burst. */
  readonly count: number;
}

const WARMING = 12;
const MEASURED = 8;
const LOOK_AGAIN_MS = 50;

export async function loadInBursts(daemon: BenchDaemon, { provider, connections, count }: Bursts): Promise<LoadResult> {
  const results: LoadResult[] = [];
  for (let burst = 0; burst < WARMING + MEASURED; burst += 1) {
    const deliveries = { provider, count, conversations: 1, from: burst * count };
    results.push(
      await load({ port: daemon.port, connections, seconds: 60, warmSeconds: 0, deliveries, pid: daemon.pid }),
    );
    await untilNoneWaits(daemon);
  }
  return together(results.slice(WARMING));
}

function together(results: readonly LoadResult[]): LoadResult {
  const sum = (of: (result: LoadResult) => number): number => results.reduce((all, result) => all + of(result), 0);
  const requests = sum((result) => result.requests);
  const statuses: Record<string, number> = {};
  for (const [status, count] of results.flatMap((result) => Object.entries(result.statuses))) {
    statuses[status] = (statuses[status] ?? 0) + count;
  }
  return {
    requests,
    perSecond: requests / sum((result) => result.requests / result.perSecond),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
    cpuUs: sum((result) => result.cpuUs * result.requests) / requests,
    statuses,
  };
}

async function untilNoneWaits({ home }: BenchDaemon): Promise<void> {
  const env = { ...process.env, SVC_HOME: home };
  const args = ["inbox", "list", "--state", "waiting", "--limit", "1", "--json"];
  for (;;) {
    const { stdout } = await promisify(execFile)(BINARY, args, { env });
    if ((JSON.parse(stdout) as { messages: unknown[] }).messages.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
