/**
 * `pnpm bench`: everything side by side in one run, as ratios. Writes bench/results/latest.json and prints the tables.
 *
 *   pnpm bench [--seconds 4] [--rounds 11] [--requests 1000000] [--only throughput,startup,commands,memory]
 *   pnpm bench --against <another build's binary>   only the pairs: what this build's turns cost more than the other's
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BINARY } from "./gateway.ts";
import { measureCommands } from "./commands.ts";
import { measureMemory } from "./memory.ts";
import { measurePairs } from "./pairs.ts";
import { measureStartup } from "./startup.ts";
import { commandTable, memoryTable, pairTable, startupTable, throughputRow, throughputTable } from "./tables.ts";
import { measureThroughput } from "./throughput.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    rounds: { type: "string", default: "11" },
    requests: { type: "string", default: "1000000" },
    only: { type: "string", default: "throughput,startup,commands,memory" },
    against: { type: "string" },
  },
});
if (!existsSync(BINARY)) {
  process.stderr.write("dist/minimal/svc is missing; build it first: pnpm build minimal\n");
  process.exit(66);
}
const only = new Set(values.against === undefined ? values.only.split(",") : []);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const results: Record<string, unknown> = {
  date: new Date().toISOString(),
  node: process.version,
  platform: `${process.platform}-${process.arch}`,
};
if (only.has("startup")) say(startupTable((results["startup"] = await measureStartup(Number(values.rounds)))));
if (only.has("commands")) say(commandTable((results["commands"] = await measureCommands(Number(values.rounds)))));
if (values.against !== undefined) {
  const pairs = await measurePairs(values.against, Number(values.rounds), Number(values.seconds));
  results["pairs"] = pairs;
  say(pairTable(pairs));
}
if (only.has("throughput")) {
  const lines = await measureThroughput(Number(values.seconds), (line) => say(throughputRow(line)));
  results["throughput"] = lines;
  say(throughputTable(lines));
}
if (only.has("memory")) say(memoryTable((results["memory"] = await measureMemory(Number(values.requests)))));
const folder = join(import.meta.dirname, "../results");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "latest.json"), `${JSON.stringify(results, null, 2)}\n`);
