/** One round of measurements: several builds side by side, each in processes of its own, in mirrored order (A B B A). */
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchDaemon, type BenchGateway, paired, startDaemon } from "../gateway.ts";
import { startSilentModel } from "../ingest/model.ts";
import { PROVIDERS } from "../ingest/providers.ts";
import { deliveryRequests } from "../ingest/requests.ts";
import { cpuUs } from "../load.ts";
import { timed } from "../measure.ts";
import { anonymousMb } from "../server.ts";
import { startedMs } from "../startup.ts";
import type { Part } from "./figures.ts";
import { Lockstep, type NextRequest } from "./lockstep.ts";

/** Figures by id, of one build. */
export type Sample = Record<string, number>;

/** `binaries` in the order in which they begin; the samples are in the same order. */
export async function measurePart(part: Part, binaries: readonly string[]): Promise<Sample[]> {
  using copies = freshCopies(binaries);
  const samples = binaries.map((): Sample => ({}));
  await PARTS[part](copies.files, samples);
  return samples;
}

const PARTS: Readonly<Record<Part, (binaries: readonly string[], samples: readonly Sample[]) => Promise<void> | void>> =
  {
    turns: measureTurns,
    ingest: measureIngest,
    start: measureStarts,
    version: measureVersions,
  };

/**
 * Where the pages of an executable lie in memory makes it up to 4 % faster or slower for as long as it is cached, also beside
 * an identical file. A copy for each round makes this a part of the noise, which the bounds take into account.
 */
function freshCopies(binaries: readonly string[]): { files: string[] } & Disposable {
  const folder = mkdtempSync(join(scratchFolder(), "svc-bench-"));
  const files = binaries.map((binary, at) => {
    const file = join(folder, `svc-${at}`);
    copyFileSync(binary, file);
    chmodSync(file, 0o755);
    return file;
  });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // A run that is interrupted must not leave them in memory.
  process.once("exit", remove);
  return {
    files,
    [Symbol.dispose]: () => {
      process.off("exit", remove);
      remove();
    },
  };
}

/** Memory if there is room: a copy on the disk is written while others are measured. */
function scratchFolder(): string {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize > 2 ** 30 ? "/dev/shm" : tmpdir();
  } catch {
    return tmpdir();
  }
}

const SETTLE_MS = 3_000;
const BODY = '{"message":"hello from the bench"}';
/** A new process compiles as it runs: until it has had some 20 000 turns, a longer program costs more than it will later. */
const WARM_BURSTS = 400;
/** After the turns, for requests of another kind. */
const WARM_OTHERS = 160;
const WIDTHS = [
  { width: 1, bursts: 1_600 },
  { width: 10, bursts: 600 },
  { width: 50, bursts: 240 },
];

async function measureTurns(binaries: readonly string[], samples: readonly Sample[]): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const gateways: BenchGateway[] = [];
  for (const binary of binaries) {
    const daemon = await startDaemon("[gateway]\nwebhook_rate_limit_per_minute = 0\n", binary);
    stack.defer(() => daemon.stop());
    gateways.push(await paired(daemon));
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  for (const [at, { pid }] of gateways.entries()) samples[at]!["memory"] = anonymousMb(pid);
  const turn = turnsOf(gateways);
  const health = (at: number): NextRequest =>
    sameOn(() => Buffer.from(`GET /health HTTP/1.1\r\nhost: 127.0.0.1:${gateways[at]!.port}\r\n\r\n`));
  const refused = (at: number): NextRequest =>
    sameOn((connection) => webhook(gateways[at]!.port, `bench-${connection}`, `svc_${"0".repeat(64)}`));
  await warm(gateways, { bursts: WARM_BURSTS, status: 200, next: turn });
  for (const { width, bursts } of WIDTHS) {
    const took = await measureBursts(gateways, { width, bursts, status: 200, next: turn });
    for (const [at, us] of took.entries()) samples[at]![`turn-${width}`] = us;
  }
  for (const [id, next, status] of [
    ["health-50", health, 200],
    ["refused-50", refused, 401],
  ] as const) {
    await warm(gateways, { bursts: WARM_OTHERS, status, next });
    const took = await measureBursts(gateways, { width: 50, bursts: 200, status, next });
    for (const [at, us] of took.entries()) samples[at]![id] = us;
  }
}

/** Whole turns, by the position of the gateway. */
export const turnsOf =
  (gateways: readonly BenchGateway[]) =>
  (at: number): NextRequest => {
    const { port, token } = gateways[at]!;
    return sameOn((connection) => webhook(port, `bench-${connection}`, token));
  };

function webhook(port: number, session: string, token: string): Buffer {
  return Buffer.from(
    `POST /webhook HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `content-length: ${BODY.length}\r\nauthorization: Bearer ${token}\r\nx-session-id: ${session}\r\n\r\n${BODY}`,
  );
}

/** Made once for each connection. */
function sameOn(make: (connection: number) => Buffer): NextRequest {
  const made: Buffer[] = [];
  return (connection) => (made[connection] ??= make(connection));
}

const PROVIDER = "provider-a";
const INGEST = { width: 50, bursts: 200 };
/** Each with fewer than may wait in it. */
const CONVERSATIONS = 1_000;

async function measureIngest(binaries: readonly string[], samples: readonly Sample[]): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { startPlatform, section } = PROVIDERS[PROVIDER]!;
  const platform = stack.use(await startPlatform());
  const model = stack.use(await startSilentModel());
  const daemons: BenchDaemon[] = [];
  for (const binary of binaries) {
    const daemon = await startDaemon(`${model.config}\n${section(platform.url)}`, binary);
    stack.defer(() => daemon.stop());
    daemons.push(daemon);
  }
  const count = (WARM_BURSTS + 1 + INGEST.bursts) * INGEST.width;
  const batch = { provider: PROVIDER, count, conversations: CONVERSATIONS, from: 0 };
  const deliveries = daemons.map(({ port }) => deliveryRequests(batch, port).values());
  const next = (at: number): NextRequest => {
    return () => deliveries[at]!.next().value!;
  };
  await warm(daemons, { bursts: WARM_BURSTS, status: 200, next });
  const took = await measureBursts(daemons, { ...INGEST, status: 200, next });
  for (const [at, us] of took.entries()) samples[at]!["ingest-50"] = us;
}

interface Bursts {
  readonly bursts: number;
  /** That each answer must have. */
  readonly status: number;
  /** What a daemon is sent, by its position. */
  readonly next: (at: number) => NextRequest;
}

/** All of them at the same time. */
export async function warm(daemons: readonly BenchDaemon[], { bursts, status, next }: Bursts): Promise<void> {
  await Promise.all(
    daemons.map(async ({ port }, at) => {
      using lockstep = await Lockstep.open(port, 50, status, next(at));
      for (let burst = 0; burst < bursts; burst += 1) await lockstep.burst();
    }),
  );
}

/** @returns The CPU microseconds that a request cost each daemon. */
export async function measureBursts(
  daemons: readonly BenchDaemon[],
  { width, bursts, status, next }: Bursts & { readonly width: number },
): Promise<number[]> {
  using stack = new DisposableStack();
  const locksteps: Lockstep[] = [];
  for (const [at, { port }] of daemons.entries()) {
    locksteps.push(stack.use(await Lockstep.open(port, width, status, next(at))));
  }
  // What opening the connections leaves to do is not a request's.
  for (const lockstep of locksteps) await lockstep.burst();
  const before = daemons.map(({ pid }) => onCpuUs(pid));
  const backwards = locksteps.toReversed();
  for (let burst = 0; burst < bursts; burst += 1) {
    for (const lockstep of burst % 2 === 0 ? locksteps : backwards) await lockstep.burst();
  }
  return daemons.map(({ pid }, at) => (onCpuUs(pid) - before[at]!) / (bursts * width));
}

/** CPU time of all threads, in user and kernel mode. */
function onCpuUs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ns = threads.reduce((sum, thread) => sum + onCpuNs(`/proc/${pid}/task/${thread}/schedstat`), 0);
  // A kernel that does not keep these gives zeros; the sum in /proc/<pid>/stat is the same in steps of 10 ms.
  return ns > 0 ? ns / 1_000 : cpuUs(pid);
}

function onCpuNs(file: string): number {
  try {
    return Number(readFileSync(file, "utf8").split(" ")[0]);
  } catch {
    return 0; // The thread has ended, or the kernel has no such file.
  }
}

const STARTS = 3;

/** Each in a home that a start before it made. The fastest counts: the others were disturbed. */
async function measureStarts(binaries: readonly string[], samples: readonly Sample[]): Promise<void> {
  using stack = new DisposableStack();
  const homes = binaries.map(() => mkdtempSync(join(tmpdir(), "svc-bench-")));
  stack.defer(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));
  const start = (at: number): Promise<number> =>
    startedMs(binaries[at]!, { SVC_HOME: homes[at]!, SVC__GATEWAY__PORT: "0" });
  for (const at of binaries.keys()) await start(at);
  const times = binaries.map((): number[] => []);
  for (const at of mirrored(binaries.length, STARTS)) times[at]!.push(await start(at));
  for (const [at, ms] of times.entries()) samples[at]!["start"] = Math.min(...ms);
}

const VERSIONS = 12;

/** The fastest counts. */
function measureVersions(binaries: readonly string[], samples: readonly Sample[]): void {
  for (const binary of binaries) timed(binary, ["--version"]);
  const times = binaries.map((): number[] => []);
  for (const at of mirrored(binaries.length, VERSIONS)) times[at]!.push(timed(binaries[at]!, ["--version"]));
  for (const [at, ms] of times.entries()) samples[at]!["version"] = Math.min(...ms);
}

/** A B B A …: each `times` times. */
function mirrored(count: number, times: number): number[] {
  const forwards = Array.from({ length: count }, (_, at) => at);
  return Array.from({ length: times }, (_, time) => (time % 2 === 0 ? forwards : forwards.toReversed())).flat();
}
