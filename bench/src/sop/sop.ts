/** What it costs to start procedures, by how many there are, and to look at them when there were many. */
import { join } from "node:path";
import { BINARY, paired, startDaemon } from "../gateway.ts";
import { cpuUs, type LoadResult } from "../load.ts";
import { load } from "../server.ts";
import { BODY, CONFIG, PATH, writeDefinitions } from "./definitions.ts";
import { type ListTime, measureLists } from "./lists.ts";
import { type Match, measureMatch } from "./match.ts";
import { steady, type Steady } from "./steady.ts";

export interface SopTriggers extends Steady {
  readonly definitions: number;
  /** From spawn until it listens. */
  readonly startMs: number;
  /** CPU microseconds of the daemon for each trigger, its run included. */
  readonly cpuUs: number;
}

export interface Sop {
  readonly match: readonly Match[];
  readonly triggers: readonly SopTriggers[];
  /** As fast as ten connections go, with a thousand definitions. */
  readonly most: LoadResult;
  readonly lists: readonly ListTime[];
}

const COUNTS = [10, 1_000, 10_000] as const;
const PER_SECOND = 200;
const SECONDS = 5;
/** Of triggers; in turns, so that whatever else the machine does meets all of them. */
const ROUNDS = 3;

export async function measureSop(rounds: number): Promise<Sop> {
  const match = await measureMatch([COUNTS[0], COUNTS[2]], rounds);
  const measured: SopTriggers[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const definitions of COUNTS) measured.push(await measureTriggers(definitions));
  }
  const triggers = COUNTS.map((count) => middle(measured.filter(({ definitions }) => definitions === count)));
  const most = await measureMost();
  return { match, triggers, most, lists: await measureLists(rounds) };
}

/** The round that was neither the best nor the worst. */
const middle = (lines: readonly SopTriggers[]): SopTriggers =>
  lines.toSorted((one, other) => one.p99Ms - other.p99Ms)[Math.floor(lines.length / 2)]!;

const startWith = async (definitions: number) =>
  paired(await startDaemon(CONFIG, BINARY, (home) => writeDefinitions(join(home, "workspace"), definitions)));

async function measureTriggers(definitions: number): Promise<SopTriggers> {
  const gateway = await startWith(definitions);
  const { pid, port, token, startMs } = gateway;
  const pace = { port, token, path: PATH, body: BODY, perSecond: PER_SECOND };
  // What runs for the first time is compiled first.
  await steady({ ...pace, seconds: 2 });
  const before = cpuUs(pid);
  const measured = await steady({ ...pace, seconds: SECONDS });
  const cpu = (cpuUs(pid) - before) / measured.triggers;
  await gateway.stop();
  return { ...measured, definitions, startMs, cpuUs: cpu };
}

async function measureMost(): Promise<LoadResult> {
  const gateway = await startWith(1_000);
  const { port, pid, token } = gateway;
  const headers = [`authorization: Bearer ${token}`];
  const same = { port, pid, path: PATH, headers, body: BODY, connections: 10 };
  const result = await load({ ...same, seconds: 5, warmSeconds: 2 });
  await gateway.stop();
  return result;
}
