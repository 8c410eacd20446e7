import type { PluginTimes } from "./plugins.ts";

export const pluginTable = ({ firstMs, warmMs, slowMs, calls, processMb }: PluginTimes): string =>
  [
    "| call of a plugin, 1 KiB in and out | | aim |",
    "|---|---|---|",
    `| warm, median of ${calls}, ms | ${warmMs.toFixed(2)} | ≤ 1 |`,
    `| warm, 99 of 100 within, ms | ${slowMs.toFixed(2)} | |`,
    `| the first, with the start of its process, ms | ${firstMs.toFixed(0)} | |`,
    `| its process after them, MB | ${processMb.toFixed(0)} | |`,
  ].join("\n");
