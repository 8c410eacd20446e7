/**
 * Floods of a daemon that may take 512 MB, one after the other, while clients that do nothing wrong go on: it survives each,
 * stays within the limit, and answers them about as quickly as without.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import type { Pace } from "../bystander.ts";
import { type Bystander, startBystander } from "../place/bystander-process.ts";
import { startVictim, type Victim } from "../place/daemon.ts";
import { judgeLog } from "../place/log.ts";
import { limitMemory } from "../place/memory-limit.ts";
import { heldBy } from "../place/process.ts";
import { standBack } from "../place/processor.ts";
import { type Flood, FLOODS } from "./floods.ts";
import { Sockets } from "./sockets.ts";

export interface FloodOptions {
  /** How long each goes on once it has begun, and until one of the others was served. */
  readonly forMs: number;
  /** How long the well-behaved clients are measured before each of them, while all is quiet. */
  readonly quietMs: number;
  /** The paces are judged: this process stands back for that. */
  readonly measured?: boolean;
  /** Only those whose name has this. */
  readonly only?: string;
  readonly binary?: string;
  readonly say?: (line: string) => void;
}

export interface FloodReport {
  /** Whether the kernel held the daemon to the limit. */
  readonly isEnforced: boolean;
  /** By flood: the most memory seen, and the pace of the well-behaved clients. */
  readonly floods: Readonly<Record<string, { readonly peakMb: number; readonly pace: Pace | undefined }>>;
  /** Over all floods of strangers, and between the floods. */
  readonly flooded: Pace | undefined;
  readonly quiet: Pace | undefined;
  readonly problems: readonly string[];
}

const LIMIT_MB = 512;
/** How much slower the slowest hundredth of the others may get. */
const SLOWER = 3;
/** A pace below this is the clock's and the scheduler's doing. */
const LEAST_P99_MS = 5;
const LOOK_MS = 50;
/** Others that are not served in this time are not served at all. */
const PATIENCE_MS = 60_000;
/** What one flood has left to be cleaned up is not the next one's doing. */
const LEAVING_MS = 300;

const QUIET = "quiet";
const STRANGERS = "strangers";

const phaseOf = ({ name, isAuthorized }: Flood): string => `${isAuthorized ? "authorized" : STRANGERS}/${name}`;

export async function runFloods(options: FloodOptions): Promise<FloodReport> {
  const { forMs, quietMs, only = "", say = () => {} } = options;
  const folder = mkdtempSync(join(tmpdir(), "svc-floods-"));
  const limit = limitMemory(options.binary ?? binaryPath(), LIMIT_MB * 1_048_576, folder);
  const peaks = new Map<string, number>();
  const problems: string[] = [];
  try {
    await using victim = await startVictim({ trusting: true, binary: limit.binary });
    using bystander = startBystander(victim);
    await pause(quietMs);
    using _back = options.measured ? standBack() : undefined;
    for (const flood of FLOODS.filter(({ name }) => name.includes(only))) {
      // Between them, and not before all of them: what else this machine does comes and goes.
      bystander.phase(QUIET);
      await pause(quietMs);
      bystander.phase(phaseOf(flood));
      const lasts = (): Promise<unknown> => Promise.all([pause(forMs), served(bystander, phaseOf(flood))]);
      const problem = await carryOut(flood, victim, lasts, (mb) => peaks.set(flood.name, mb));
      bystander.phase("leaving");
      if (problem !== undefined) problems.push(problem);
      if (await isGone(victim)) break;
      await pause(LEAVING_MS);
    }
    const paces = await bystander.end();
    const { [QUIET]: quiet, [STRANGERS]: flooded } = paces;
    const measured = FLOODS.filter(({ name }) => peaks.has(name)).map(
      (flood) => [flood.name, { peakMb: peaks.get(flood.name)!, pace: paces[phaseOf(flood)] }] as const,
    );
    for (const [name, { peakMb, pace }] of measured) {
      say(`${name}: at most ${Math.round(peakMb)} MB, others ${paceText(pace, quiet)}`);
      problems.push(...judged(name, peakMb, pace));
    }
    say(`all floods of strangers: others ${paceText(flooded, quiet)}; quiet: ${paceText(quiet, undefined)}`);
    if (options.measured) problems.push(...judgedPace(flooded, quiet));
    problems.push(...(await judgeEnd(victim)));
    return { isEnforced: limit.isEnforced, floods: Object.fromEntries(measured), flooded, quiet, problems };
  } finally {
    await limit.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves with the problems. */
async function carryOut(
  flood: Flood,
  victim: Victim,
  lasts: () => Promise<unknown>,
  peak: (memoryMb: number) => void,
): Promise<string | undefined> {
  using sockets = new Sockets(victim.place);
  let most = 0;
  const looking = setInterval(() => peak((most = Math.max(most, heldBy(victim.daemon.pid)?.memoryMb ?? 0))), LOOK_MS);
  try {
    const ended = victim.daemon.exited.then(
      ({ code, signal }) => `${flood.name}: the daemon ended (${code ?? signal})`,
    );
    const held = flood.begin(sockets, victim).then(lasts);
    const problem = await Promise.race([ended, held.then(() => undefined)]);
    peak(most);
    return problem ?? (sockets.reached === 0 ? `${flood.name}: no connection was taken` : undefined);
  } finally {
    clearInterval(looking);
  }
}

/** Or does not end well: what was counted says so. */
const served = (bystander: Bystander, phase: string): Promise<void> =>
  Promise.race([
    bystander.served(phase),
    new Promise<void>((resolve) => void setTimeout(resolve, PATIENCE_MS).unref()),
  ]);

function judged(name: string, peakMb: number, pace: Pace | undefined): string[] {
  const found: string[] = [];
  if (peakMb > LIMIT_MB) found.push(`${name}: the daemon takes ${Math.round(peakMb)} of ${LIMIT_MB} MB`);
  if (pace === undefined || pace.served === 0) found.push(`${name}: no other client is served`);
  for (const [status, count] of Object.entries(pace?.others ?? {}))
    found.push(`${name}: well-behaved clients were answered ${status} ${count} times`);
  return found;
}

/** Over all of them: in the seconds of one flood the slowest hundredth is two or three requests. */
function judgedPace(flooded: Pace | undefined, quiet: Pace | undefined): string[] {
  if (flooded === undefined || quiet === undefined) return [];
  const most = SLOWER * Math.max(quiet.p99Ms, LEAST_P99_MS);
  if (flooded.p99Ms <= most) return [];
  return [`floods: p99 of the others is ${flooded.p99Ms.toFixed(1)} ms and may be ${most.toFixed(1)}`];
}

async function judgeEnd({ daemon, secrets }: Victim): Promise<string[]> {
  const found: string[] = [];
  const exit = await daemon.stop();
  if (exit.code !== 0) found.push(`after the floods the daemon ended with ${exit.code ?? exit.signal}`);
  return [...found, ...judgeLog(daemon.output(), secrets, [])];
}

const isGone = ({ daemon }: Victim): Promise<boolean> =>
  Promise.race([daemon.exited.then(() => true), pause(0).then(() => false)]);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function paceText(pace: Pace | undefined, quiet: Pace | undefined): string {
  if (pace === undefined) return "not served";
  const ratio = quiet && quiet.p99Ms > 0 ? ` (${(pace.p99Ms / quiet.p99Ms).toFixed(1)} × quiet)` : "";
  return `${pace.served} served, p50 ${pace.p50Ms.toFixed(1)} ms, p99 ${pace.p99Ms.toFixed(1)} ms${ratio}`;
}
