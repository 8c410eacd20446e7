/**
 * What keeping a message costs, without HTTP: `node packages/core/store/bench/run.ts [--messages 192000] [--folder <on the disk in
 * question>]`. The numbers are in README.md beside it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureArrivals } from "./arrivals.ts";
import { ID_STORES, measureIds } from "./ids.ts";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "192000" },
    folder: { type: "string", default: tmpdir() },
  },
});
const messages = Number(values.messages);
const folder = mkdtempSync(join(values.folder, "svc-store-bench-"));
const say = (...columns: (string | number)[]): void => void process.stdout.write(`| ${columns.join(" | ")} |\n`);
try {
  say("ids are kept", "remembered", "messages/s", "CPU µs/message", "pages/commit", "p99 ms/commit");
  for (const remembered of [0, 1_000_000]) {
    for (const how of ID_STORES) {
      const { rate, cpuUs, pages, p99Ms } = measureIds(folder, { how, remembered, messages });
      say(how, remembered, rate, cpuUs, pages, p99Ms);
    }
  }
  say("", "messages/commit", "messages/s", "CPU µs/message", "pages/commit", "p99 ms/commit");
  for (const batch of [1, 8, 64]) {
    const { rate, cpuUs, pages, p99Ms } = await measureArrivals(folder, { batch, messages: (messages * batch) / 64 });
    say("arrive", batch, rate, cpuUs, pages, p99Ms);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
