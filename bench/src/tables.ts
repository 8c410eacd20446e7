/** Results as Markdown tables, each number beside its ratio and the aim. */
import type { CommandTime } from "./commands.ts";
import type { Memory } from "./memory.ts";
import type { Startup } from "./startup.ts";
import type { Line } from "./throughput.ts";

/** What a scenario is compared with, and the ratio it aims at. */
const AIMS: Readonly<Record<string, { base: string; ratio: number }>> = {
  "gateway, whole turn": { base: "bare node:http", ratio: 0.2 },
  "gateway, 401": { base: "bare hono", ratio: 0.8 },
  "gateway, 429": { base: "bare hono", ratio: 0.8 },
};

export function throughputRow({ name, connections, result }: Line): string {
  const { perSecond, p50Ms, p99Ms, cpuUs, statuses } = result;
  return `${name.padEnd(20)} ${String(connections).padStart(3)} connections ${perSecond.toFixed(0).padStart(7)}/s  p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  ${cpuUs.toFixed(0)} us CPU  ${JSON.stringify(statuses)}`;
}

export function throughputTable(lines: readonly Line[]): string {
  const rows = lines.map(({ name, connections, result }) => {
    const aim = AIMS[name];
    const base = aim && lines.find((line) => line.name === aim.base && line.connections === connections);
    const ratio = base
      ? `${(result.perSecond / base.result.perSecond).toFixed(2)} × ${aim.base} (aim ${aim.ratio})`
      : "";
    return `| ${name} | ${connections} | ${result.perSecond.toFixed(0)} | ${result.p50Ms.toFixed(2)} | ${result.p99Ms.toFixed(2)} | ${result.cpuUs.toFixed(0)} | ${ratio} |`;
  });
  return [
    "| scenario | connections | requests/s | p50 ms | p99 ms | CPU µs/request | ratio |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

export function startupTable({ nodeMs, versionMs, healthMs }: Startup): string {
  const row = (name: string, ms: number, aim: string): string =>
    `| ${name} | ${ms.toFixed(0)} | ${(ms / nodeMs).toFixed(2)} | ${aim} |`;
  return [
    "| start | ms | × node -e 0 | aim |",
    "|---|---|---|---|",
    row("node -e 0", nodeMs, ""),
    row("svc --version", versionMs, "≤ 1.4"),
    row("svc daemon to /health", healthMs, "≤ 5"),
  ].join("\n");
}

export function commandTable([node, ...commands]: readonly CommandTime[]): string {
  const rows = commands.map(
    ({ name, ms, aim }) => `| ${name} | ${ms.toFixed(0)} | ${(ms / node!.ms).toFixed(2)} | ${aim} |`,
  );
  return ["| command | ms | × node -e 0 | aim |", "|---|---|---|---|", ...rows].join("\n");
}

export function memoryTable({ bareIdleMb, idleMb, duringMb, requests }: Memory): string {
  return [
    "| anonymous memory | MB | ratio | aim |",
    "|---|---|---|---|",
    `| bare node:http idle | ${bareIdleMb.toFixed(1)} | 1 | |`,
    `| gateway idle | ${idleMb.toFixed(1)} | ${(idleMb / bareIdleMb).toFixed(2)} | ≤ 1.6 |`,
    `| gateway during ${requests} turns | ${duringMb.map((mb) => mb.toFixed(0)).join(" ")} | | flat |`,
  ].join("\n");
}
