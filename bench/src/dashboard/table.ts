/** The results of the page as a Markdown table. */
import type { Dashboard } from "./dashboard.ts";

export function dashboardTable(measured: Dashboard): string {
  const { coldMs, warmMs, firstViewKb, searchMs, searchP99Ms, framesPerSecond, frameP99Ms, hugeMs } = measured;
  return [
    "| dashboard, headless Chromium | measured | aim |",
    "|---|---|---|",
    `| navigation until the first list is drawn, empty cache | ${coldMs.toFixed(0)} ms | ≤ 300 ms |`,
    `| the same, script and styles cached | ${warmMs.toFixed(0)} ms | ≤ 300 ms |`,
    `| scripts and styles of the first view, gzipped | ${firstViewKb.toFixed(1)} kB | ≤ 150 kB |`,
    `| search of 100 000 messages, median (99th percentile) | ${searchMs.toFixed(0)} ms (${searchP99Ms.toFixed(0)} ms) | ≤ 100 ms |`,
    `| frames a second while 200 tokens a second come into a conversation of 500 messages | ${framesPerSecond.toFixed(0)} | 60 |`,
    `| the longest frame of a hundred there | ${frameP99Ms.toFixed(0)} ms | |`,
    `| an answer of 230 000 pieces, until its last word is drawn | ${(hugeMs / 1000).toFixed(1)} s | ≤ 15 s |`,
  ].join("\n");
}
