/**
 * Deliveries a second, from the socket to the 200 that says they are on disk, beside a bare server that checks the proof and
 * keeps nothing, and one that keeps each in a transaction of its own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchDaemon, startDaemon } from "../gateway.ts";
import type { LoadResult } from "../load.ts";
import { load, type Server, startServer } from "../server.ts";
import { loadInBursts } from "./bursts.ts";
import { startSilentModel } from "./model.ts";
import { onlyTaken } from "./only-taken.ts";
import { startPhones } from "./phones.ts";
import { PROVIDERS, SECRET } from "./providers.ts";

export type Keeper = "bare hono" | "one row per transaction" | "svc" | "svc, turns running";

export interface IngestLine {
  readonly keeper: Keeper;
  readonly provider: string;
  readonly connections: number;
  /** One for each round. */
  readonly results: LoadResult[];
}

/** Together fewer than can wait in the daemon. What compiles a program as it runs needs some ten thousand requests for it. */
const MEASURED = 60_000;
const WARMING = 30_000;
/** Each with fewer than may wait in it. */
const CONVERSATIONS = 1_000;
const BARE = fileURLToPath(new URL("../bare/signed.mjs", import.meta.url));

export async function measureIngest(
  rounds: number,
  seconds: number,
  onLine: (line: IngestLine) => void,
): Promise<IngestLine[]> {
  const lines = plan();
  for (let round = 0; round < rounds; round += 1) {
    for (const line of round % 2 === 0 ? lines : lines.toReversed()) {
      line.results.push(await measuredIngest(line, seconds));
      onLine(line);
    }
  }
  return lines;
}

function plan(): IngestLine[] {
  const others = Object.keys(PROVIDERS).filter((provider) => provider !== "provider-a");
  const line = (keeper: Keeper, provider: string, connections: number): IngestLine => ({
    keeper,
    provider,
    connections,
    results: [],
  });
  return [
    line("bare hono", "provider-a", 1),
    line("svc", "provider-a", 1),
    line("bare hono", "provider-a", 50),
    line("svc", "provider-a", 50),
    line("svc, turns running", "provider-a", 50),
    line("one row per transaction", "provider-a", 50),
    ...others.flatMap((provider) => [line("bare hono", provider, 50), line("svc", provider, 50)]),
  ];
}

/** One round of a line. */
export async function measuredIngest(line: IngestLine, seconds: number): Promise<LoadResult> {
  await using stack = new AsyncDisposableStack();
  const { keeper, provider, connections } = line;
  if (keeper === "bare hono" || keeper === "one row per transaction") {
    return await loadAtOnce(line, seconds, await startBare(keeper, stack));
  }
  const daemon = await startSvc(keeper, provider, stack);
  const { burst } = PROVIDERS[provider]!;
  return burst === undefined
    ? await loadAtOnce(line, seconds, daemon)
    : onlyTaken(await loadInBursts(daemon, { provider, connections, count: burst }));
}

async function loadAtOnce({ provider, connections }: IngestLine, seconds: number, server: Server): Promise<LoadResult> {
  const result = await load({
    port: server.port,
    connections,
    seconds,
    warmSeconds: 10,
    warmRequests: WARMING,
    maxRequests: MEASURED,
    deliveries: { provider, count: WARMING + MEASURED, conversations: CONVERSATIONS, from: 0 },
    pid: server.pid,
  });
  return onlyTaken(result);
}

async function startSvc(keeper: Keeper, provider: string, stack: AsyncDisposableStack): Promise<BenchDaemon> {
  const { startPlatform, section } = PROVIDERS[provider]!;
  const areTurnsRunning = keeper === "svc, turns running";
  const platform = stack.use(await (areTurnsRunning ? startPhones() : startPlatform()));
  const model = areTurnsRunning ? undefined : stack.use(await startSilentModel());
  const daemon = await startDaemon(`${model?.config ?? ""}\n${section(platform.url)}`);
  stack.defer(() => daemon.stop());
  return daemon;
}

async function startBare(keeper: Keeper, stack: AsyncDisposableStack): Promise<Server> {
  const env: NodeJS.ProcessEnv = { BENCH_SECRET: SECRET };
  if (keeper === "one row per transaction") {
    const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    env["KEEP_IN"] = join(folder, "rows.db");
  }
  const server = await startServer([process.execPath, BARE], env);
  stack.defer(() => server.stop());
  return server;
}
