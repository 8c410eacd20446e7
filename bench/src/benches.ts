/** Every bench by name: what it measures, and its tables. */
import { aimsTable, measureAims } from "./aims.ts";
import { measureBrowser } from "./browser/browser.ts";
import { browserTable } from "./browser/table.ts";
import { measureChannels } from "./channels/channels.ts";
import { channelsTable } from "./channels/table.ts";
import { measureCommands } from "./commands.ts";
import { measureDashboard } from "./dashboard/dashboard.ts";
import { dashboardTable } from "./dashboard/table.ts";
import { measureEvents } from "./events/events.ts";
import { eventsTable } from "./events/table.ts";
import { measureHardware } from "./hardware/hardware.ts";
import { hardwareTable } from "./hardware/table.ts";
import { measureIdle } from "./idle/idle.ts";
import { idleTable } from "./idle/table.ts";
import { measureIngest } from "./ingest/ingest.ts";
import { measureIngestMemory } from "./ingest/memory.ts";
import { ingestMemoryTable, ingestRow, ingestTable, wholeWayTable } from "./ingest/tables.ts";
import { measureWholeWay } from "./ingest/whole-way.ts";
import { measureMemory } from "./memory.ts";
import { measureBackends } from "./observability/backends.ts";
import { measureScrape } from "./observability/scrape.ts";
import { backendTable, scrapeTable } from "./observability/table.ts";
import { measureModel, modelRow, modelTable } from "./model.ts";
import { measureOff } from "./off/off.ts";
import { offRow, offTable } from "./off/table.ts";
import { measurePdf } from "./pdf/pdf.ts";
import { pdfTable } from "./pdf/table.ts";
import { measurePlugins } from "./plugins/plugins.ts";
import { pluginTable } from "./plugins/table.ts";
import { measureRooms } from "./rooms/rooms.ts";
import { roomsTable } from "./rooms/table.ts";
import { measureSandboxes } from "./sandboxes/sandboxes.ts";
import { sandboxTable } from "./sandboxes/table.ts";
import { measureSop } from "./sop/sop.ts";
import { sopTable } from "./sop/table.ts";
import { measureStartup } from "./startup.ts";
import { commandTable, memoryTable, startupTable, throughputRow, throughputTable } from "./tables.ts";
import { measureThroughput } from "./throughput.ts";

export interface BenchOptions {
  /** Of each load. */
  readonly seconds: number;
  /** Without: as many as the bench needs; one of a load takes minutes, one of a start not a second. */
  readonly rounds: number | undefined;
  readonly requests: number | undefined;
  readonly say: (line: string) => void;
}

interface Outcome {
  readonly result: unknown;
  readonly tables: readonly string[];
}

export interface Bench {
  /** Whose binary it measures. */
  readonly profile: "minimal" | "all";
  run(options: BenchOptions): Promise<Outcome>;
}

const bench = (profile: Bench["profile"], run: Bench["run"]): Bench => ({ profile, run });

/** With one table. */
const tabled = <T>(
  measure: (options: BenchOptions) => Promise<T>,
  table: (result: T) => string,
  profile: Bench["profile"] = "minimal",
): Bench =>
  bench(profile, async (options) => {
    const result = await measure(options);
    return { result, tables: [table(result)] };
  });

export const BENCHES: ReadonlyMap<string, Bench> = new Map([
  ["aims", bench("minimal", runAims)],
  ["startup", tabled(({ rounds = 11 }) => measureStartup(rounds), startupTable)],
  ["commands", tabled(({ rounds = 11 }) => measureCommands(rounds), commandTable)],
  [
    "throughput",
    tabled(({ seconds, say }) => measureThroughput(seconds, (line) => say(throughputRow(line))), throughputTable),
  ],
  ["model", tabled(({ seconds, say }) => measureModel(seconds, (line) => say(modelRow(line))), modelTable)],
  ["memory", tabled(({ requests = 1_000_000 }) => measureMemory(requests), memoryTable)],
  ["channels", tabled(({ rounds = 5 }) => measureChannels(rounds), channelsTable)],
  ["rooms", tabled(({ rounds = 5 }) => measureRooms(rounds), roomsTable, "all")],
  ["hardware", tabled(({ rounds = 12 }) => measureHardware(rounds), hardwareTable, "all")],
  ["events", tabled(() => measureEvents(), eventsTable)],
  ["idle", tabled(({ requests = 2_000 }) => measureIdle(requests), idleTable)],
  ["off", tabled(({ rounds = 3, say }) => measureOff(rounds, (cost) => say(offRow(cost))), offTable)],
  ["dashboard", tabled(({ rounds = 11 }) => measureDashboard(rounds), dashboardTable)],
  ["sop", tabled(({ rounds = 5 }) => measureSop(rounds), sopTable)],
  ["ingest", bench("minimal", runIngest)],
  ["observability", bench("all", runObservability)],
  ["pdf", tabled(({ rounds = 11 }) => measurePdf(rounds), pdfTable)],
  ["browser", tabled(({ rounds = 5 }) => measureBrowser(rounds), browserTable)],
  ["plugins", tabled(({ rounds = 5, requests = 1000 }) => measurePlugins(rounds, requests), pluginTable)],
  ["sandboxes", tabled(({ rounds = 21 }) => measureSandboxes(rounds), sandboxTable, "all")],
]);

async function runAims({ rounds = 1, say }: BenchOptions): Promise<Outcome> {
  const results = await measureAims(rounds, say);
  return { result: Object.fromEntries(results), tables: [aimsTable(results)] };
}

async function runIngest({ seconds, rounds = 3, requests = 200_000, say }: BenchOptions): Promise<Outcome> {
  const lines = await measureIngest(rounds, seconds, (line) => say(ingestRow(line)));
  const wholeWay = await measureWholeWay(rounds, seconds);
  const memory = await measureIngestMemory(requests);
  return {
    result: { lines, wholeWay, memory },
    tables: [ingestTable(lines), wholeWayTable(wholeWay), ingestMemoryTable(memory)],
  };
}

async function runObservability({ seconds, rounds = 5 }: BenchOptions): Promise<Outcome> {
  const scrape = await measureScrape(10_000);
  const backends = await measureBackends(rounds, seconds);
  return { result: { scrape, backends }, tables: [backendTable(backends), scrapeTable(scrape)] };
}
