/** What the observability backends cost, as Markdown. */
import type { BackendCost } from "./backends.ts";
import type { Scrape } from "./scrape.ts";

export function backendTable(costs: readonly BackendCost[]): string {
  const rows = costs.map(({ name, connections, aim, ratios, median, cpu }) => {
    const each = ratios.map((ratio) => ratio.toFixed(2)).join(" ");
    const wanted = aim === undefined ? "" : `≥ ${aim.toFixed(2)}`;
    return `| ${name} | ${connections} | ${median.toFixed(3)} | ${wanted} | ${cpu.toFixed(3)} | ${each} |`;
  });
  return [
    "| backend | connections | rate, × none | aim | CPU a request, × none | each round |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

export const scrapeTable = ({ series, medianMs, worstMs, medianBlockedMs, worstBlockedMs }: Scrape): string =>
  [
    "| GET /metrics | median | worst | aim |",
    "|---|---|---|---|",
    `| ${series} series, ms | ${medianMs.toFixed(1)} | ${worstMs.toFixed(1)} | ≤ 50 |`,
    `| event loop held, ms | ${medianBlockedMs.toFixed(1)} | ${worstBlockedMs.toFixed(1)} | ≤ 10 |`,
  ].join("\n");
