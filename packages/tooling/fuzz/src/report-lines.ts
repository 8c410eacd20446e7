/** The printed lines of a report. */
import type { EndpointReport } from "./endpoint-run.ts";

/** How an endpoint took it, its most frequent answers first. */
export function endpointLine({ endpoint, sent, answers, violations, slowestMs }: EndpointReport, what = ""): string {
  const by = Object.entries(answers).toSorted(([, a], [, b]) => b - a);
  const most = by.slice(0, 6).map(([answer, count]) => `${answer}: ${count}`);
  return `${what}${endpoint}  ${sent} sent, ${violations.length} violations, slowest ${slowestMs} ms  (${most.join(", ")})`;
}

/** Every violation, those of one kind once, with an example. */
export function violationLines(reports: readonly EndpointReport[]): string[] {
  const all = reports.flatMap(({ violations }) => violations);
  const groups = Map.groupBy(all, ({ endpoint, kind, problem }) => `${endpoint}: ${kind}: ${problem}`);
  return [...groups].flatMap(([title, [first, ...more]]) => [
    `${title}${more.length > 0 ? ` (${more.length + 1} times)` : ""}`,
    `  > ${first!.sent}`,
    `  < ${first!.received}`,
  ]);
}
