/** The results of the browser as a Markdown table. */
import type { BrowserTimes } from "./browser.ts";

export const browserTable = (lines: readonly BrowserTimes[]): string =>
  [
    "| browser: open and snapshot of a small page | browser starts | browser is there |",
    "|---|---|---|",
    ...lines.map(({ backend, coldMs, warmMs }) => `| ${backend} | ${coldMs.toFixed(0)} ms | ${warmMs.toFixed(0)} ms |`),
  ].join("\n");
