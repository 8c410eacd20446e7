/**
 * Every aim of the gateway's speed in one run of under five minutes: what is measured, in ratios to bare servers and to the first
 * build that took turns over HTTP, beside what it should be. The benches of each subject have the details.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchGateway, BINARY, startGateway } from "./gateway.ts";
import { referenceBuild } from "./guard/builds.ts";
import { readBaseline } from "./guard/figures.ts";
import { measurePart } from "./guard/round.ts";
import { type Keeper, measuredIngest } from "./ingest/ingest.ts";
import type { LoadResult } from "./load.ts";
import { median, timed } from "./measure.ts";
import { measureModel } from "./model.ts";
import { load, type Server, startServer } from "./server.ts";
import { startedMs } from "./startup.ts";

/** `least`: it should be at least so much; else at most. */
interface Aim {
  readonly name: string;
  readonly unit: "×" | "kB" | "µs";
  readonly aim: number;
  readonly least?: boolean;
}

/** As data: the table has a row for each, in this order, and a run that measures one without an aim fails. */
export const AIMS = {
  "turn-cpu": { name: "whole turn, CPU at 50 connections, against the first build", unit: "×", aim: 0.8 },
  "turn-cpu-fresh": { name: "the same in the first 3 s of a process", unit: "×", aim: 1 },
  "written-50": { name: "written per turn, 50 connections", unit: "kB", aim: 6 },
  "written-1": { name: "written per turn, 1 connection", unit: "kB", aim: 12 },
  "durable-1": { name: "whole turns/s against one fsync'd row, 1 connection", unit: "×", aim: 0.8, least: true },
  "durable-10": { name: "the same, 10 connections", unit: "×", aim: 0.8, least: true },
  "durable-50": { name: "the same, 50 connections", unit: "×", aim: 0.8, least: true },
  model: { name: "turn with an HTTP model that answers at once, CPU at 50 connections", unit: "µs", aim: 300 },
  "provider-a": { name: "Provider A, deliveries/s at 50 against bare hono", unit: "×", aim: 0.9, least: true },
  "provider-b": { name: "Provider B, the same", unit: "×", aim: 0.7, least: true },
  "provider-c": { name: "Provider C, the same", unit: "×", aim: 0.7, least: true },
  "provider-d": { name: "Provider D, the same", unit: "×", aim: 0.7, least: true },
  refused: { name: "refused requests/s at 50 against bare hono", unit: "×", aim: 1.2, least: true },
  start: { name: "start to /health against node -e 0", unit: "×", aim: 3 },
  version: { name: "--version against node -e 0", unit: "×", aim: 1.15 },
  resident: { name: "idle resident memory against bare node:http", unit: "×", aim: 1.4 },
} as const satisfies Readonly<Record<string, Aim>>;

export type AimId = keyof typeof AIMS;

/** Each of the rounds, by aim. */
export type AimResults = ReadonlyMap<AimId, readonly number[]>;

export async function measureAims(rounds: number, say: (line: string) => void): Promise<AimResults> {
  const results = new Map<AimId, number[]>();
  const note = (id: AimId, value: number): void => {
    results.set(id, [...(results.get(id) ?? []), value]);
    say(`${AIMS[id].name}: ${value.toFixed(2)} ${AIMS[id].unit}`);
  };
  const first = (await referenceBuild(readBaseline().get("turn-50")!.best, say)).binary;
  for (let round = 0; round < rounds; round += 1) {
    await againstFirst(first, round, note);
    for (const connections of [1, 10, 50]) await againstDurable(connections, note);
    for (const provider of ["provider-a", "provider-b", "provider-c", "provider-d"] as const) {
      note(provider, await rateOf(provider, round));
    }
    await refused(note);
    await starts(note);
    await resident(note);
  }
  const isMeasured = ({ name, connections }: { name: string; connections: number }): boolean =>
    name === "Chat Completions, whole, no tools" && connections === 50;
  for (const { result } of await measureModel(SECONDS, () => {}, isMeasured)) note("model", result.cpuUs);
  return results;
}

type Note = (id: AimId, value: number) => void;

const SECONDS = 2;
const FRESH_SECONDS = 3;
/** A new process compiles as it runs. */
const WARM_SECONDS = 3;
const SETTLE_MS = 2_000;

const perSecond = ({ perSecond: rate }: LoadResult): number => rate;
const bare = (file: string): Promise<Server> =>
  startServer([process.execPath, fileURLToPath(new URL(`bare/${file}.mjs`, import.meta.url))]);
const inTurn = <T>(cases: readonly T[], round: number): readonly T[] => (round % 2 === 0 ? cases : cases.toReversed());

interface Turns {
  readonly connections: number;
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly token: string;
}

const turns = (server: Server, { connections, seconds, warmSeconds, token }: Turns): Promise<LoadResult> =>
  load({
    port: server.port,
    path: "/webhook",
    connections,
    seconds,
    warmSeconds,
    headers: [`authorization: Bearer ${token}`, "x-session-id: bench-{{c}}"],
    body: '{"message":"hello from the bench"}',
    pid: server.pid,
  });

async function againstFirst(first: string, round: number, note: Note): Promise<void> {
  const [ours, theirs] = await measurePart("turns", [BINARY, first]);
  note("turn-cpu", ours!["turn-50"]! / theirs!["turn-50"]!);
  const fresh = new Map<string, number>();
  for (const binary of inTurn([BINARY, first], round)) {
    const gateway = await startGateway(0, binary);
    const { token } = gateway;
    const result = await turns(gateway, { connections: 50, seconds: FRESH_SECONDS, warmSeconds: 0, token });
    fresh.set(binary, result.cpuUs);
    await gateway.stop();
  }
  note("turn-cpu-fresh", fresh.get(BINARY)! / fresh.get(first)!);
}

async function againstDurable(connections: 1 | 10 | 50 | number, note: Note): Promise<void> {
  const durable = await bare("durable");
  const gateway = await startGateway(0);
  const measured = { connections, seconds: SECONDS, warmSeconds: WARM_SECONDS };
  const floor = await turns(durable, { ...measured, token: "svc_bench" });
  const ours = await turns(gateway, { ...measured, token: gateway.token });
  note(`durable-${connections}` as AimId, perSecond(ours) / perSecond(floor));
  if (connections !== 10) note(`written-${connections}` as AimId, await writtenKb(gateway, connections));
  await durable.stop();
  await gateway.stop();
}

async function writtenKb(gateway: BenchGateway, connections: number): Promise<number> {
  const { token } = gateway;
  const before = writtenBytes(gateway.pid);
  const { requests } = await turns(gateway, { connections, seconds: 1, warmSeconds: 0, token });
  return (writtenBytes(gateway.pid) - before) / requests / 1_000;
}

/** In calls of write(2): files, the log, and the answers. */
const writtenBytes = (pid: number): number =>
  Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))![1]);

async function rateOf(provider: string, round: number): Promise<number> {
  const rates = new Map<Keeper, number>();
  for (const keeper of inTurn(["bare hono", "svc"] as const, round)) {
    const line = { keeper, provider, connections: 50, results: [] };
    rates.set(keeper, perSecond(await measuredIngest(line, SECONDS)));
  }
  return rates.get("svc")! / rates.get("bare hono")!;
}

/** Two processes of one program differ by a tenth, whichever it is. */
const REFUSED_PAIRS = 3;

async function refused(note: Note): Promise<void> {
  const measured = { connections: 50, seconds: SECONDS, warmSeconds: WARM_SECONDS };
  const rate = async (server: Server, token: string): Promise<number> => {
    const result = await turns(server, { ...measured, token });
    await server.stop();
    return perSecond(result);
  };
  const floor = async (): Promise<number> => rate(await bare("hono"), "svc_wrong");
  const ours = async (): Promise<number> => rate(await startGateway(0), `svc_${"0".repeat(64)}`);
  for (let pair = 0; pair < REFUSED_PAIRS; pair += 1) {
    const rates = new Map<() => Promise<number>, number>();
    for (const one of inTurn([floor, ours], pair)) rates.set(one, await one());
    note("refused", rates.get(ours)! / rates.get(floor)!);
  }
}

const STARTS = 5;

async function starts(note: Note): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const env = { SVC_HOME: home, SVC__GATEWAY__PORT: "0" };
  await startedMs(BINARY, env);
  const [node, version, health]: [number[], number[], number[]] = [[], [], []];
  for (let start = 0; start < STARTS; start += 1) {
    node.push(timed(process.execPath, ["-e", "0"]));
    version.push(timed(BINARY, ["--version"]));
    health.push(await startedMs(BINARY, env));
  }
  rmSync(home, { recursive: true, force: true });
  note("start", median(health) / median(node));
  note("version", median(version) / median(node));
}

async function resident(note: Note): Promise<void> {
  const [http, gateway] = [await bare("http"), await startGateway(0)];
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  note("resident", residentKb(gateway.pid) / residentKb(http.pid));
  await http.stop();
  await gateway.stop();
}

const residentKb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);

/** Medians of the rounds. */
export function aimsTable(results: AimResults): string {
  const rows = Array.from(results, ([id, values]) => {
    const { name, unit, aim, least = false }: Aim = AIMS[id];
    const value = median(values);
    const isMet = least ? value >= aim : value <= aim;
    const digits = unit === "µs" ? 0 : 2;
    return [
      id,
      `| ${name} | ${value.toFixed(digits)} ${unit} | ${least ? "≥" : "≤"} ${aim} ${unit} | ${isMet ? "yes" : "**no**"} |`,
    ];
  });
  const byId = new Map(rows as [AimId, string][]);
  const missing = Object.keys(AIMS).filter((id) => !byId.has(id as AimId));
  if (missing.length > 0) throw new Error(`These aims were not measured: ${missing.join(", ")}.`);
  return [
    "| aim | measured | aim | met |",
    "|---|---|---|---|",
    ...(Object.keys(AIMS) as AimId[]).map((id) => byId.get(id)!),
  ].join("\n");
}
