/** The results of the page as a Markdown table. */
import type { Dashboard } from "./dashboard.ts";

export function dashboardTable({ coldMs, warmMs, scriptGzipKb }: Dashboard): string {
  return [
    "| dashboard, headless Chromium | measured | aim |",
    "|---|---|---|",
    `| navigation until the first list is drawn, empty cache | ${coldMs.toFixed(0)} ms | ≤ 300 ms |`,
    `| the same, script and styles cached | ${warmMs.toFixed(0)} ms | ≤ 300 ms |`,
    `| script, gzipped | ${scriptGzipKb.toFixed(1)} kB | ≤ 60 kB |`,
  ].join("\n");
}
