/**
 * A whole attack: every endpoint of one running daemon, slow clients and hoarded connections beside it, a client that does
 * nothing wrong all the while; and then the question whether anything of it is left.
 */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { HIDDEN } from "./attacks/framing.ts";
import type { Pace } from "./bystander.ts";
import { openDeaf } from "./deaf.ts";
import { attackEndpoint, attackSlowly, type EndpointReport, type RunOptions } from "./endpoint-run.ts";
import { endpointsOf, nameOf } from "./endpoints.ts";
import { openIdle } from "./idle.ts";
import { type Bystander, startBystander } from "./place/bystander-process.ts";
import { startVictim, type Victim, type VictimOptions } from "./place/daemon.ts";
import { judgeLog } from "./place/log.ts";
import { type Held, heldBy, settled } from "./place/process.ts";
import { standBack } from "./place/processor.ts";
import { endpointLine } from "./report-lines.ts";
import type { Patience } from "./wire/exchange.ts";

export interface CampaignOptions extends VictimOptions {
  readonly seed: number;
  /** Attacks on each endpoint. */
  readonly count: number;
  /** Exchanges at the same time. */
  readonly width: number;
  /** Slow ones on each. */
  readonly slow: number;
  /** Connections that say nothing. */
  readonly idle: number;
  /** Only endpoints whose name has this. */
  readonly only?: string;
  /** How long the well-behaved client is measured while all is quiet. */
  readonly quietMs: number;
  /** How long what was taken may take to come back. */
  readonly settleMs: number;
  readonly patience: Patience;
  /** The paces are to be those of a daemon that is attacked from elsewhere. This process stands back for that. */
  readonly measured?: boolean;
  readonly say?: (line: string) => void;
}

export interface IdleReport {
  readonly reached: number;
  /** Still open when all had been opened. */
  readonly held: number;
  /** A client that came while they were there was served. */
  readonly served: boolean;
}

export interface CampaignReport {
  readonly seed: number;
  readonly endpoints: readonly EndpointReport[];
  readonly slow: readonly EndpointReport[];
  readonly idle: IdleReport | undefined;
  /** The attacker used only spare processor time, so the measured pace is the daemon's. */
  readonly apart: boolean;
  /** The well-behaved client, by phase. */
  readonly paces: Readonly<Record<string, Pace>>;
  readonly before: Held | undefined;
  readonly after: Held | undefined;
  /** Everything that should not be, as sentences; nothing when all is well. */
  readonly problems: readonly string[];
}

/** How long connections are opened, held and closed: the slowest hundredth of the others must be more than one request. */
const HOARDING_MS = 5_000;
/** Followers who do not read, all through the storm. */
const DEAF = 100;

/** What may stay: caches with a bound, and what the C library keeps of the room that ten thousand connections took. */
const KEPT_MB = 100;
const KEPT_DESCRIPTORS = 8;

export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  await using victim = await startVictim(options);
  using bystander = startBystander(victim);
  const { say = () => {} } = options;
  const endpoints = (await endpointsOf(victim)).filter((one) => nameOf(one).includes(options.only ?? ""));
  const run: RunOptions = {
    seed: options.seed,
    count: options.count,
    width: options.width,
    patience: options.patience,
  };
  // Everything that is loaded late is loaded now, or it would count as what the attack left behind.
  for (const endpoint of endpoints) await attackEndpoint(endpoint, victim, { ...run, count: 20 });
  using stoodBack = options.measured ? standBack() : undefined;
  bystander.phase("quiet");
  await new Promise((resolve) => setTimeout(resolve, options.quietMs));
  const before = heldBy(victim.daemon.pid);

  bystander.phase("storm");
  const deaf = await openDeaf(victim, DEAF);
  const slow = Promise.all(endpoints.map((one) => attackSlowly(one, victim, { ...run, count: options.slow })));
  const done: EndpointReport[] = [];
  for (const endpoint of endpoints) {
    const report = await attackEndpoint(endpoint, victim, run);
    say(endpointLine(report));
    done.push(report);
  }
  bystander.phase("slow");
  const slowDone = await slow;
  for (const report of slowDone) if (report.sent > 0) say(endpointLine(report, "slow "));
  const idle = await hoard(victim, bystander, options);
  deaf[Symbol.dispose]();
  bystander.phase("after");
  await new Promise((resolve) => setTimeout(resolve, options.quietMs));
  const paces = await bystander.end();
  const after = before && (await settled(victim.daemon.pid, before, options.settleMs));
  const problems = [...judgeAfter(before, after, idle, paces), ...(await judgeEnd(victim))];
  return {
    seed: options.seed,
    endpoints: done,
    slow: slowDone,
    idle,
    apart: stoodBack?.apart ?? false,
    paces,
    before,
    after,
    problems,
  };
}

async function hoard(
  victim: Victim,
  bystander: Bystander,
  { idle, width, measured }: CampaignOptions,
): Promise<IdleReport | undefined> {
  if (idle === 0) return undefined;
  bystander.phase("opening");
  using connections = await openIdle(victim.place, idle, { width, overMs: measured ? HOARDING_MS : 0 });
  bystander.phase("hoarded");
  const served = await isServed(victim);
  await new Promise((resolve) => setTimeout(resolve, HOARDING_MS));
  const held = connections.open;
  bystander.phase("leaving");
  if (measured) await connections.leave(HOARDING_MS);
  return { reached: connections.reached, held, served };
}

const bound = ({ memoryMb, descriptors }: Held): Held => ({
  memoryMb: memoryMb + KEPT_MB,
  descriptors: descriptors + KEPT_DESCRIPTORS,
});

function judgeAfter(
  before: Held | undefined,
  after: Held | undefined,
  idle: IdleReport | undefined,
  paces: Readonly<Record<string, Pace>>,
): string[] {
  const found: string[] = [];
  if (before && after) {
    const most = bound(before);
    const of = (what: "memoryMb" | "descriptors"): string =>
      `${Math.round(before[what])} before, ${Math.round(after[what])} after`;
    if (after.memoryMb > most.memoryMb) found.push(`memory does not come back: ${of("memoryMb")} MB`);
    if (after.descriptors > most.descriptors) found.push(`descriptors do not come back: ${of("descriptors")}`);
  }
  if (idle && !idle.served) found.push("a client that comes while connections are hoarded is not served");
  for (const [phase, { others }] of Object.entries(paces)) {
    for (const [status, count] of Object.entries(others)) {
      found.push(`the well-behaved client was answered ${status} ${count} times (${phase})`);
    }
  }
  return found;
}

/** A turn, /health, the log, the end, and what was kept. */
async function judgeEnd(victim: Victim): Promise<string[]> {
  const { daemon, secrets } = victim;
  const found: string[] = [];
  if (!(await isServed(victim))) found.push("an ordinary turn does not work afterwards");
  const health = await daemon.request("/health");
  if (health.status !== 200) found.push(`/health is ${health.status} afterwards`);
  const exit = await daemon.stop();
  if (exit.code !== 0) found.push(`the daemon ended with ${exit.code ?? exit.signal}`);
  if (keptTurns(daemon.home, HIDDEN) > 0) found.push("a request hidden in another one became a turn");
  return [...found, ...judgeLog(daemon.output(), secrets, ["mark"])];
}

/** Whether a turn works; by the control socket where the limit on them is what was attacked. */
async function isServed({ daemon, credentials, trusting }: Victim): Promise<boolean> {
  const said = "still there?";
  if (!trusting) return (await runBinary(["chat", "-m", said], { home: daemon.home })).stdout.includes(said);
  const response = await daemon.request("/webhook", {
    token: credentials.token,
    headers: { "X-Webhook-Secret": credentials.webhookSecret, "X-Forwarded-For": "203.0.113.77" },
    body: { message: said },
  });
  return response.status === 200 && ((await response.json()) as { response: string }).response.includes(said);
}

function keptTurns(home: string, text: string): number {
  using db = new DatabaseSync(join(home, "state/svc.db"), { readOnly: true });
  const row = db.prepare("SELECT count(*) AS count FROM turns WHERE instr(messages, ?) > 0").get(text);
  return (row as { count: number }).count;
}
