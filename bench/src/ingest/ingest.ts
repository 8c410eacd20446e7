/**
 * Deliveries a second, from the socket to the 200 that says they are on disk, beside a bare server that checks the proof and
 * keeps nothing, and one that keeps each in a transaction of its own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../gateway.ts";
import type { LoadResult } from "../load.ts";
import { load, type Server, startServer } from "../server.ts";
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
const CONVERSATIONS = 1_000;

export async function measureIngest(
  rounds: number,
  seconds: number,
  onLine: (line: IngestLine) => void,
): Promise<IngestLine[]> {
  const lines = plan();
  for (let round = 0; round < rounds; round += 1) {
    for (const line of round % 2 === 0 ? lines : lines.toReversed()) {
      line.results.push(await measured(line, seconds));
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

async function measured({ keeper, provider, connections }: IngestLine, seconds: number): Promise<LoadResult> {
  await using stack = new AsyncDisposableStack();
  const server = await start(keeper, provider, stack);
  stack.defer(() => server.stop());
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

async function start(keeper: Keeper, provider: string, stack: AsyncDisposableStack): Promise<Server> {
  if (keeper === "bare hono") return startBare({});
  if (keeper === "one row per transaction") {
    const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    return startBare({ KEEP_IN: join(folder, "rows.db") });
  }
  const { startPlatform, section } = PROVIDERS[provider]!;
  if (keeper === "svc, turns running") return startDaemon(section(stack.use(await startPhones()).url));
  const platform = stack.use(await startPlatform());
  const model = stack.use(await startSilentModel());
  return startDaemon(`${model.config}\n${section(platform.url)}`);
}

const startBare = (env: NodeJS.ProcessEnv): Promise<Server> =>
  startServer([process.execPath, fileURLToPath(new URL("../bare/signed.mjs", import.meta.url))], {
    BENCH_SECRET: SECRET,
    ...env,
  });
