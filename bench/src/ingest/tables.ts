/** What the durable way of a message costs, as Markdown tables. */
import type { LoadResult } from "../load.ts";
import { median } from "../measure.ts";
import type { IngestLine, Keeper } from "./ingest.ts";
import type { IngestMemory } from "./memory.ts";
import type { WholeWay } from "./whole-way.ts";

type Lines = readonly IngestLine[];
type Metric = (result: LoadResult) => number;

const perSecond: Metric = (result) => result.perSecond;
const p50Ms: Metric = (result) => result.p50Ms;
const p99Ms: Metric = (result) => result.p99Ms;

export function ingestRow({ keeper, provider, connections, results }: IngestLine): string {
  const { perSecond, p50Ms, p99Ms, cpuUs, requests } = results.at(-1)!;
  return `${provider.padEnd(10)} ${keeper.padEnd(23)} ${String(connections).padStart(3)} connections ${perSecond.toFixed(0).padStart(7)}/s  p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  ${cpuUs.toFixed(0)} us CPU  ${requests} taken`;
}

/** Medians of the rounds; of ratios, the median of each round's own. */
export function ingestTable(lines: Lines): string {
  const rows = lines.map((line) => {
    const middle = (metric: Metric, digits: number): string => median(line.results.map(metric)).toFixed(digits);
    return `| ${line.provider} | ${line.keeper} | ${line.connections} | ${middle(perSecond, 0)} | ${middle(p50Ms, 2)} | ${middle(p99Ms, 2)} | ${middle(({ cpuUs }) => cpuUs, 0)} | ${compared(lines, line)} |`;
  });
  return [
    "| provider | who takes it | connections | deliveries/s | p50 ms | p99 ms | CPU µs/delivery | compared |",
    "|---|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function compared(lines: Lines, line: IngestLine): string {
  const { keeper, provider, connections } = line;
  if (keeper !== "svc" && keeper !== "svc, turns running") return "";
  const bare = beside(lines, line, "bare hono");
  if (connections === 1) return `${signed(difference(line, bare, p50Ms))} ms (aim ≤ 1)`;
  const aims = keeper === "svc" && provider === "provider-a";
  const rate = `${ratio(line, bare, perSecond)} × bare hono${aims ? " (aim 0.8)" : ""}`;
  if (!aims) return rate;
  const rows = beside(lines, line, "one row per transaction");
  return [
    rate,
    `p99 ${ratio(line, bare, p99Ms)} × (aim ≤ 3)`,
    `${ratio(line, rows, perSecond)} × one row per transaction (aim 4)`,
  ].join(", ");
}

const beside = (lines: Lines, { provider, connections }: IngestLine, keeper: Keeper): IngestLine =>
  lines.find((other) => other.keeper === keeper && other.provider === provider && other.connections === connections)!;

const ofRounds = (a: IngestLine, b: IngestLine, of: (a: LoadResult, b: LoadResult) => number): number =>
  median(a.results.map((result, round) => of(result, b.results[round]!)));

const ratio = (a: IngestLine, b: IngestLine, metric: Metric): string =>
  ofRounds(a, b, (mine, other) => metric(mine) / metric(other)).toFixed(2);

const difference = (a: IngestLine, b: IngestLine, metric: Metric): number =>
  ofRounds(a, b, (mine, other) => metric(mine) - metric(other));

const signed = (ms: number): string => `${ms < 0 ? "" : "+"}${ms.toFixed(2)}`;

export function wholeWayTable(lines: readonly WholeWay[]): string {
  return [
    "| the whole way | messages/s | p50 ms | p99 ms | CPU µs/message |",
    "|---|---|---|---|---|",
    ...lines.map(
      ({ conversations, perSecond, p50Ms, p99Ms, cpuUs }) =>
        `| ${conversations} ${conversations === 1 ? "conversation" : "conversations"} | ${perSecond.toFixed(0)} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} | ${cpuUs.toFixed(0)} |`,
    ),
  ].join("\n");
}

export function ingestMemoryTable({ deliveries, idleMb, waitingMb, answeredMb }: IngestMemory): string {
  const all = (samples: readonly number[]): string => samples.map((mb) => mb.toFixed(0)).join(" ");
  return [
    `| anonymous memory, ${deliveries} deliveries | MB | aim |`,
    "|---|---|---|",
    `| idle | ${idleMb.toFixed(1)} | |`,
    `| each tenth taken, most of it still waiting | ${all(waitingMb)} | flat |`,
    `| each tenth answered | ${all(answeredMb)} | flat |`,
  ].join("\n");
}
