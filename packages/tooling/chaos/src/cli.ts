/** `pnpm chaos`: is what was accepted kept? Exit 0 when everything held, 1 when something did not, 64 for wrong arguments. */
import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { EXIT } from "@svc/contract";
import { SCENARIOS } from "./scenarios/index.ts";
import type { Report, ScenarioOptions } from "./scenarios/scenario.ts";

const NAMES = Object.keys(SCENARIOS);

const HELP = `Usage: pnpm chaos [--scenario name] [--deliveries 5000] [--messages 400] [--kills 30] [--failing-reads 0] [--seed n] [--json]

Runs the built binary (SVC_BINARY, or dist/minimal/svc) between fake platforms on loopback that deliver, repeat themselves
and fail, does to it what can happen to a service, and judges in the end: every delivery that was answered 200 has one
completed turn, every reply arrived once and in order, no acting call was made twice, the database is sound.

Scenarios; without --scenario all of them, in some minutes:
  kills          deliveries over all providers, SIGKILL at random instants, a tenth of the sends fail
  everyday       people write on the channels that poll or hold a connection, SIGKILL at random instants, connections end
  rooms          people write in Matrix rooms and in Lark and Feishu, SIGKILL at random instants, outages; needs dist/all/svc
  relays         people write over three relays: one drops, one repeats itself, one forges; SIGKILL at random instants;
                 needs dist/all/svc
  linked-device  people write to an account with a linked device, SIGKILL at random instants, connections end, the phone logs it
                 out; needs dist/all/svc
  microphone     commands behind a wake word, SIGKILL while they are captured, transcribed and dispatched; needs dist/all/svc
  procedures     runs and approvals over all of their states, SIGKILL at random instants
  outage         a platform is down for longer than the first retries, over a restart too
  disk-full      the disk of the home is full, over a kill too; needs root for a small tmpfs
  locked         another process holds the database's lock
  clock          the wall clock jumps ten minutes both ways; needs faketime

Options:
  --scenario name    only this one; may be given several times
  --deliveries n     of kills
  --messages n       of everyday, rooms, relays, linked-device and microphone
  --kills n          of kills, rooms, relays, linked-device, microphone and procedures; of everyday half as many
  --failing-reads n  of kills, everyday and clock: percent of the requests that send nothing which fail too
  --seed n           of an earlier run: the same messages, kills and failures; what a kill hits is never the same
  --json             the whole report as JSON

When something does not hold, the home of that run is left in the temporary folder, and its path told.

Examples:
  pnpm chaos                                                everything
  pnpm chaos --scenario kills --deliveries 300 --kills 3    a look
  pnpm chaos --scenario kills --seed 7                      an earlier run, again
  pnpm chaos --scenario kills --failing-reads 1             what is asked of the platforms fails as well
  pnpm chaos --scenario outage --scenario locked --json     two of them, for a program
`;

/** Of one run; a thousand answers may be wrong for one reason. */
const MOST_SHOWN = 30;

async function main(argv: readonly string[]): Promise<number> {
  const args = readArgs(argv);
  if (args === undefined) return EXIT.usage;
  const { names, json, help, ...numbers } = args;
  const { seed } = numbers;
  if (help) {
    process.stdout.write(HELP);
    return EXIT.ok;
  }
  const say = (line: string): void => void (json || process.stdout.write(`${line}\n`));
  say(`seed ${seed}`);
  const evidence = join(tmpdir(), `svc-chaos-${seed}-${process.pid}`);
  const reports: Report[] = [];
  for (const name of names) {
    say(`\n${name}`);
    const report = await run(name, { ...numbers, evidence, say: (line) => say(`  ${line}`) });
    tell(report, say);
    reports.push(report);
  }
  const isWrong = reports.some(({ problems }) => problems.length > 0);
  if (json) process.stdout.write(`${JSON.stringify({ seed, reports, ...(isWrong && { evidence }) }, null, 2)}\n`);
  say(isWrong ? `\nDOES NOT HOLD: see above, and ${evidence}` : "\neverything held");
  return isWrong ? EXIT.failure : EXIT.ok;
}

async function run(scenario: string, options: ScenarioOptions): Promise<Report> {
  const startedAt = performance.now();
  try {
    const report = await SCENARIOS[scenario]!(options);
    return { ...report, facts: { ...report.facts, "took, s": Math.round((performance.now() - startedAt) / 1000) } };
  } catch (error) {
    return { scenario, seed: options.seed, problems: [`it could not be run to its end: ${String(error)}`], facts: {} };
  }
}

function tell({ problems, facts, missing }: Report, say: (line: string) => void): void {
  if (missing) say(`  NOT RUN: ${missing.name} is missing: ${missing.reason}`);
  const width = Math.max(...Object.keys(facts).map(({ length }) => length));
  for (const [name, value] of Object.entries(facts)) say(`  ${name.padEnd(width)}  ${value}`);
  for (const problem of problems.slice(0, MOST_SHOWN)) say(`  WRONG: ${problem}`);
  if (problems.length > MOST_SHOWN) say(`  WRONG: and ${problems.length - MOST_SHOWN} more`);
}

function readArgs(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        scenario: { type: "string", multiple: true, default: NAMES },
        deliveries: { type: "string", default: "5000" },
        messages: { type: "string", default: "400" },
        kills: { type: "string", default: "30" },
        "failing-reads": { type: "string", default: "0" },
        seed: { type: "string", default: String(randomInt(2 ** 31)) },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const { scenario: names, json, help } = values;
    const unknown = names.find((name) => !NAMES.includes(name));
    if (unknown !== undefined) throw new Error(`--scenario is one of ${NAMES.join(", ")}.`);
    return {
      names,
      deliveries: whole(values.deliveries),
      messages: whole(values.messages),
      kills: whole(values.kills),
      failingReads: whole(values["failing-reads"]) / 100,
      seed: whole(values.seed),
      json,
      help,
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return undefined;
  }
}

function whole(text: string): number {
  if (!/^\d{1,10}$/.test(text))
    throw new Error("--deliveries, --messages, --kills, --failing-reads and --seed take whole numbers.");
  return Number(text);
}

// What was started ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(EXIT.failure));
process.exitCode = await main(process.argv.slice(2));
