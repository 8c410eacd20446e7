/** `pnpm fuzz`: attacks the built binary. Exit 0 when nothing was found, 1 when something was, 64 for wrong arguments. */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { EXIT } from "@svc/contract";
import { type CampaignReport, runCampaign } from "./campaign.ts";
import { attackControl, type ControlReport } from "./control/campaign.ts";
import { type FloodReport, runFloods } from "./floods/campaign.ts";
import { violationLines } from "./report-lines.ts";

const HELP = `Usage: pnpm fuzz [--count 10000] [--width 8] [--slow 10] [--idle 10000] [--flood 1500] [--seed n] [--endpoint text]
       [--no-measure] [--json]

Sends generated hostile requests to every endpoint of the built binary (SVC_BINARY, or dist/minimal/svc) and judges each
answer. Beside them run slow clients, idle connections and clients that do nothing wrong and must not notice.

  --count n        requests to each endpoint
  --width n        of them at the same time
  --slow n         slow ones to each; they take two minutes
  --idle n         connections that say nothing; 0 leaves them out
  --flood ms       how long each flood of a daemon that may take 512 MB goes on; 0 leaves them out
  --seed n         of an earlier run, to have its requests again
  --endpoint text  only endpoints whose "METHOD /path" has this text; "control" is the control socket,
                   "floods" are the floods
  --no-measure     don't leave the processor to the daemon, and judge no latency: for a machine that does other work
  --json           the whole report as JSON

Examples:
  pnpm fuzz                                    everything, some ten minutes
  pnpm fuzz --count 300 --slow 0               a look
  pnpm fuzz --endpoint "POST /pair" --seed 7   one endpoint, again
`;

/** The server gives headers 20 s and bodies 120 s, looks every 5 s, and a busy machine may be late. */
const PATIENCE = { promptMs: 30_000, slowMs: { headers: 60_000, body: 180_000 } };
/** One in ten again, against a daemon that trusts no proxy header: these attack the rate limits. */
const DISTRUSTING_SHARE = 0.1;

async function main(argv: readonly string[]): Promise<number> {
  const args = readArgs(argv);
  if (args === undefined) return EXIT.usage;
  if (args.help) {
    process.stdout.write(HELP);
    return EXIT.ok;
  }
  const { count, width, slow, idle, flood, seed, only, measured, json } = args;
  const say = (line: string): void => void (json || process.stdout.write(`${line}\n`));
  say(`seed ${seed}`);
  const common = {
    seed,
    width,
    quietMs: 5_000,
    settleMs: 30_000,
    patience: PATIENCE,
    measured,
    say,
    ...(only !== undefined && { only }),
  };
  const control = only === undefined || only === "control" ? await attackControl({ seed, count, say }) : undefined;
  const isFlooded = flood > 0 && (only === undefined || only === "floods");
  const floods = isFlooded ? await runFloods({ forMs: flood, quietMs: flood, measured, say }) : undefined;
  const reports: CampaignReport[] = [];
  if (only !== "control" && only !== "floods") {
    say("a daemon that trusts forwarding headers:");
    reports.push(await runCampaign({ ...common, trusting: true, count, slow, idle }));
    say("one that does not:");
    const fewer = Math.ceil(count * DISTRUSTING_SHARE);
    reports.push(await runCampaign({ ...common, trusting: false, count: fewer, slow: 0, idle: 0 }));
  }
  if (json) process.stdout.write(`${JSON.stringify({ seed, control, floods, reports }, null, 2)}\n`);
  return tell(reports, { control, floods, measured }, say) === 0 ? EXIT.ok : EXIT.failure;
}

interface Found {
  readonly control: ControlReport | undefined;
  readonly floods: FloodReport | undefined;
  readonly measured: boolean;
}

function tell(
  reports: readonly CampaignReport[],
  { control, floods, measured }: Found,
  say: (line: string) => void,
): number {
  const problems: string[] = [...(control?.problems ?? []), ...(floods?.problems ?? [])];
  if (floods?.isEnforced === false) say("no control group could be made: memory was watched, and not limited");
  for (const report of reports) {
    problems.push(...violationLines([...report.endpoints, ...report.slow]), ...report.problems);
    if (measured && !report.apart)
      say("the attacker took processor time from the clients that are measured: without chrt it has to");
    const { quiet } = report.paces;
    for (const [phase, { served, p50Ms, p99Ms }] of Object.entries(report.paces)) {
      const ratio = quiet && phase !== "quiet" ? `, ${(p99Ms / quiet.p99Ms).toFixed(1)} × quiet` : "";
      say(
        `well-behaved clients, ${phase}: ${served} served, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms${ratio}`,
      );
    }
    const { before, after, idle } = report;
    if (idle) say(`idle connections: ${idle.reached} opened, ${idle.held} held`);
    if (before && after) {
      say(
        `memory ${Math.round(before.memoryMb)} → ${Math.round(after.memoryMb)} MB, descriptors ${before.descriptors} → ${after.descriptors}`,
      );
    }
  }
  for (const problem of problems) say(problem);
  say(problems.length === 0 ? "nothing found" : "FOUND: see above");
  return problems.length;
}

function readArgs(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      allowNegative: true,
      options: {
        count: { type: "string", default: "10000" },
        width: { type: "string", default: "8" },
        slow: { type: "string", default: "10" },
        idle: { type: "string", default: "10000" },
        flood: { type: "string", default: "1500" },
        seed: { type: "string", default: String(randomInt(2 ** 31)) },
        endpoint: { type: "string" },
        measure: { type: "boolean", default: true },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const [count, width, slow, idle, flood, seed] = [
      values.count,
      values.width,
      values.slow,
      values.idle,
      values.flood,
      values.seed,
    ].map(whole) as [number, number, number, number, number, number];
    const { endpoint: only, measure: measured, json, help } = values;
    return { count, width, slow, idle, flood, seed, only, measured, json, help };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return undefined;
  }
}

function whole(text: string): number {
  if (!/^\d{1,10}$/.test(text))
    throw new Error("--count, --width, --slow, --idle, --flood and --seed take whole numbers.");
  return Number(text);
}

// By process.exit(), so that the daemons go too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main(process.argv.slice(2));
