/**
 * `pnpm bench`: everything side by side in one run, as ratios. Writes bench/results/latest.json and prints the tables.
 *
 *   pnpm bench [--seconds 4] [--rounds 11] [--requests 1000000] [--only throughput,startup,commands,memory,channels,events,dashboard,sop,ingest,observability,pdf,browser,plugins,sandboxes]
 *   pnpm bench --against <another build's binary> [--only starts,turns]   only pairs: what this build's cost more than the other's
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BINARY } from "./gateway.ts";
import { measureBrowser } from "./browser/browser.ts";
import { browserTable } from "./browser/table.ts";
import { measureChannels } from "./channels/channels.ts";
import { channelsTable } from "./channels/table.ts";
import { measureCommands } from "./commands.ts";
import { measureDashboard } from "./dashboard/dashboard.ts";
import { dashboardTable } from "./dashboard/table.ts";
import { measureEvents } from "./events/events.ts";
import { eventsTable } from "./events/table.ts";
import { measureIngest } from "./ingest/ingest.ts";
import { measureIngestMemory } from "./ingest/memory.ts";
import { ingestMemoryTable, ingestRow, ingestTable, wholeWayTable } from "./ingest/tables.ts";
import { measureWholeWay } from "./ingest/whole-way.ts";
import { measureMemory } from "./memory.ts";
import { measurePairs } from "./pairs.ts";
import { measureBackends } from "./observability/backends.ts";
import { measureSandboxes } from "./sandboxes/sandboxes.ts";
import { sandboxTable } from "./sandboxes/table.ts";
import { measureScrape } from "./observability/scrape.ts";
import { backendTable, scrapeTable } from "./observability/table.ts";
import { measurePdf } from "./pdf/pdf.ts";
import { pdfTable } from "./pdf/table.ts";
import { measurePlugins } from "./plugins/plugins.ts";
import { pluginTable } from "./plugins/table.ts";
import { measureSop } from "./sop/sop.ts";
import { sopTable } from "./sop/table.ts";
import { measureStartPairs } from "./start-pairs.ts";
import { measureStartup } from "./startup.ts";
import {
  commandTable,
  memoryTable,
  pairTable,
  startPairTable,
  startupTable,
  throughputRow,
  throughputTable,
} from "./tables.ts";
import { measureThroughput } from "./throughput.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    rounds: { type: "string" },
    requests: { type: "string" },
    only: { type: "string" },
    against: { type: "string" },
  },
});
if (!existsSync(BINARY)) {
  process.stderr.write("dist/minimal/svc is missing; build it first: pnpm build minimal\n");
  process.exit(66);
}
const seconds = Number(values.seconds);
// A round of a load takes minutes, one of a start not a second.
const rounds = (usual: number): number => Number(values.rounds ?? usual);
const requests = (usual: number): number => Number(values.requests ?? usual);
const ALL =
  "throughput,startup,commands,memory,channels,events,dashboard,sop,ingest,observability,pdf,browser,plugins,sandboxes";
const PAIRS = "starts,turns";
const only = new Set((values.only ?? (values.against === undefined ? ALL : PAIRS)).split(","));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const results: Record<string, unknown> = {
  date: new Date().toISOString(),
  node: process.version,
  platform: `${process.platform}-${process.arch}`,
};
if (only.has("startup")) say(startupTable((results["startup"] = await measureStartup(rounds(11)))));
if (only.has("commands")) say(commandTable((results["commands"] = await measureCommands(rounds(11)))));
if (values.against !== undefined && only.has("starts")) {
  const starts = await measureStartPairs(values.against, rounds(21));
  results["startPairs"] = starts;
  say(startPairTable(starts));
}
if (values.against !== undefined && only.has("turns")) {
  const pairs = await measurePairs(values.against, rounds(11), seconds);
  results["pairs"] = pairs;
  say(pairTable(pairs));
}
if (only.has("throughput")) {
  const lines = await measureThroughput(seconds, (line) => say(throughputRow(line)));
  results["throughput"] = lines;
  say(throughputTable(lines));
}
if (only.has("memory")) say(memoryTable((results["memory"] = await measureMemory(requests(1_000_000)))));
if (only.has("channels")) say(channelsTable((results["channels"] = await measureChannels(rounds(5)))));
if (only.has("events")) say(eventsTable((results["events"] = await measureEvents())));
if (only.has("dashboard")) say(dashboardTable((results["dashboard"] = await measureDashboard(rounds(11)))));
if (only.has("sop")) say(sopTable((results["sop"] = await measureSop(rounds(5)))));
if (only.has("ingest")) {
  const lines = await measureIngest(rounds(3), seconds, (line) => say(ingestRow(line)));
  results["ingest"] = lines;
  say(ingestTable(lines));
  say(wholeWayTable((results["wholeWay"] = await measureWholeWay(rounds(3), seconds))));
  say(ingestMemoryTable((results["ingestMemory"] = await measureIngestMemory(requests(200_000)))));
}
if (only.has("observability")) {
  const scrape = await measureScrape(10_000);
  const backends = await measureBackends(rounds(5), seconds);
  results["observability"] = { scrape, backends };
  say(scrapeTable(scrape));
  say(backendTable(backends));
}
if (only.has("pdf")) say(pdfTable((results["pdf"] = await measurePdf(rounds(11)))));
if (only.has("browser")) say(browserTable((results["browser"] = await measureBrowser(rounds(5)))));
if (only.has("plugins")) say(pluginTable((results["plugins"] = await measurePlugins(rounds(5), requests(1000)))));
if (only.has("sandboxes")) say(sandboxTable((results["sandboxes"] = await measureSandboxes(rounds(21)))));
const folder = join(import.meta.dirname, "../results");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "latest.json"), `${JSON.stringify(results, null, 2)}\n`);
