/**
 * Whole turns with each observability backend against none, in one process that is told by a reload to change between them:
 * two processes that do the same differ by more than what is measured here.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type BenchGateway, paired, startDaemon } from "../gateway.ts";
import type { LoadResult } from "../load.ts";
import { median } from "../measure.ts";
import { type Server, startServer } from "../server.ts";
import { loadSomeTurns } from "../whole-turns.ts";

const FULLEST_BINARY = resolve(import.meta.dirname, "../../../dist/all/svc");

export interface BackendCost {
  readonly name: string;
  readonly connections: number;
  /** Least rate over that of no backend; undefined: none is asked for. */
  readonly aim: number | undefined;
  /** Its rate over that of no backend in the same round, one number a round. */
  readonly ratios: readonly number[];
  readonly median: number;
  /** Median of the CPU time a request takes, over that with no backend. */
  readonly cpu: number;
}

interface Backend {
  readonly name: string;
  readonly aim: number | undefined;
  readonly config: (collector: Server) => string;
}

const otel =
  (sampling: number) =>
  ({ port }: Server): string =>
    `backend = "otel"\notel_endpoint = "http://127.0.0.1:${port}"\notel_sampling = ${sampling}`;

const NONE: Backend = { name: "none", aim: undefined, config: () => 'backend = "none"' };
const BACKENDS: readonly Backend[] = [
  { name: "log", aim: undefined, config: () => 'backend = "log"' },
  { name: "metrics", aim: 0.95, config: () => 'backend = "metrics"' },
  { name: "otel, 1 %", aim: 0.9, config: otel(0.01) },
  { name: "otel, 100 %", aim: 0.7, config: otel(1) },
];

/** `rounds` pairs of slices of `seconds` each, for each backend and number of connections. */
export async function measureBackends(rounds: number, seconds: number): Promise<BackendCost[]> {
  const collector = await startServer([
    process.execPath,
    fileURLToPath(new URL("../bare/collector.mjs", import.meta.url)),
  ]);
  const costs: BackendCost[] = [];
  for (const connections of [1, 10, 50]) {
    for (const backend of BACKENDS) costs.push(await costOf(backend, collector, connections, rounds, seconds));
  }
  await collector.stop();
  return costs;
}

async function costOf(
  backend: Backend,
  collector: Server,
  connections: number,
  rounds: number,
  seconds: number,
): Promise<BackendCost> {
  const gateway = await paired(await startDaemon(configOf(NONE, collector), FULLEST_BINARY));
  const run = async (which: Backend): Promise<LoadResult> => {
    await change(gateway, configOf(which, collector));
    return loadSomeTurns(gateway, connections, seconds);
  };
  // Both have been compiled before anything counts.
  for (const which of [NONE, backend, NONE, backend]) await run(which);
  const pairs: { off: LoadResult; own: LoadResult }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Who goes first changes, or whatever the first one leaves behind would always be the second one's burden.
    const [first, second] = round % 2 === 0 ? [NONE, backend] : [backend, NONE];
    const [one, other] = [await run(first), await run(second)];
    pairs.push(round % 2 === 0 ? { off: one, own: other } : { off: other, own: one });
  }
  await gateway.stop();
  const ratios = pairs.map(({ off, own }) => own.perSecond / off.perSecond);
  const cpu = median(pairs.map(({ off, own }) => own.cpuUs / off.cpuUs));
  return { name: backend.name, connections, aim: backend.aim, ratios, median: median(ratios), cpu };
}

const configOf = (backend: Backend, collector: Server): string =>
  `[gateway]\nwebhook_rate_limit_per_minute = 0\n\n[observability]\n${backend.config(collector)}\n`;

async function change({ home }: BenchGateway, config: string): Promise<void> {
  writeFileSync(join(home, "config.toml"), config, { mode: 0o600 });
  await promisify(execFile)(FULLEST_BINARY, ["reload"], { env: { ...process.env, SVC_HOME: home } });
}
