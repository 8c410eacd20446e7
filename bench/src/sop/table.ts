/** The results of procedures as Markdown tables. */
import type { Sop } from "./sop.ts";

export function sopTable({ match, triggers, most, lists }: Sop): string {
  const [few, many] = [match[0]!, match.at(-1)!];
  return [
    "| definitions | starts in ms | triggers a second | accepted | p50 ms | p99 ms | CPU µs/trigger | runs ended after ms |",
    "|---|---|---|---|---|---|---|---|",
    ...triggers.map(
      (line) =>
        `| ${line.definitions} | ${line.startMs.toFixed(0)} | ${line.perSecond} | ${line.accepted} of ${line.triggers} | ` +
        `${line.p50Ms.toFixed(2)} | ${line.p99Ms.toFixed(2)} | ${line.cpuUs.toFixed(0)} | ${line.endedAfterMs.toFixed(0)} |`,
    ),
    "",
    "| triggers | measured | aim |",
    "|---|---|---|",
    `| a second, ten connections, 1000 definitions | ${most.perSecond.toFixed(0)} | ≥ 200 |`,
    `| match with ${few.definitions} definitions | ${few.matchUs.toFixed(2)} µs | |`,
    `| match with ${many.definitions} definitions | ${many.matchUs.toFixed(2)} µs | |`,
    `| ${many.definitions} against ${few.definitions} | ${(many.matchUs / few.matchUs).toFixed(2)} × | about 1 × |`,
    `| reading ${many.definitions} definitions | ${many.loadMs.toFixed(0)} ms | |`,
    "",
    "| approvals waiting, runs ended | 50, 200: ms | 100, 10000: ms | × |",
    "|---|---|---|---|",
    ...lists.map(
      ({ name, fewMs, manyMs }) =>
        `| ${name} | ${fewMs.toFixed(2)} | ${manyMs.toFixed(2)} | ${(manyMs / fewMs).toFixed(2)} |`,
    ),
  ].join("\n");
}
