/** Whole turns with each observability backend, in rounds in which every backend has its turn: what watching costs. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { paired, startDaemon } from "../gateway.ts";
import type { LoadResult } from "../load.ts";
import { median } from "../measure.ts";
import { type Server, startServer } from "../server.ts";
import { loadTurns } from "../whole-turns.ts";

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
  NONE,
  { name: "log", aim: undefined, config: () => 'backend = "log"' },
  { name: "metrics", aim: 0.95, config: () => 'backend = "metrics"' },
  { name: "otel, 1 %", aim: 0.9, config: otel(0.01) },
  { name: "otel, 100 %", aim: 0.7, config: otel(1) },
];

export async function measureBackends(rounds: number, seconds: number): Promise<BackendCost[]> {
  const collector = await startServer([
    process.execPath,
    fileURLToPath(new URL("../bare/collector.mjs", import.meta.url)),
  ]);
  const costs: BackendCost[] = [];
  for (const connections of [1, 10, 50]) {
    const results = new Map<Backend, LoadResult[]>(BACKENDS.map((backend) => [backend, []]));
    for (let round = 0; round < rounds; round += 1) {
      // Who goes first changes, or whatever the first one leaves behind would always be the second one's burden.
      for (const backend of rotated(BACKENDS, round)) {
        results.get(backend)!.push(await measured(backend.config(collector), connections, seconds));
      }
    }
    const off = results.get(NONE)!;
    for (const backend of BACKENDS.filter((each) => each !== NONE)) {
      const { name, aim } = backend;
      const own = results.get(backend)!;
      const ratios = own.map(({ perSecond }, round) => perSecond / off[round]!.perSecond);
      const cpu = median(own.map(({ cpuUs }, round) => cpuUs / off[round]!.cpuUs));
      costs.push({ name, connections, aim, ratios, median: median(ratios), cpu });
    }
  }
  await collector.stop();
  return costs;
}

const rotated = <T>(list: readonly T[], by: number): T[] => [
  ...list.slice(by % list.length),
  ...list.slice(0, by % list.length),
];

async function measured(backend: string, connections: number, seconds: number): Promise<LoadResult> {
  const config = `[gateway]\nwebhook_rate_limit_per_minute = 0\n\n[observability]\n${backend}\n`;
  const gateway = await paired(await startDaemon(config, FULLEST_BINARY));
  return loadTurns(gateway, connections, seconds);
}
