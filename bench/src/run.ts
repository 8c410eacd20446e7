/** `pnpm bench`: everything side by side in one run, as ratios; the guard for speed; the tables of the README. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BenchUsageError, HELP, readBenchArguments } from "./arguments.ts";
import { BENCHES } from "./benches.ts";
import { BINARY } from "./gateway.ts";
import { runGuard } from "./guard/guard.ts";
import { guardTable, guardVerdict } from "./guard/table.ts";
import { provenance } from "./provenance.ts";
import { writeTables } from "./readme.ts";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

// By process.exit(), so that daemons and copies of binaries go too.
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => process.exit(code));

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof BenchUsageError;
  process.stderr.write(
    `${isUsage ? `${error.message}\nSee: npm run bench -- --help` : String((error as Error).stack)}\n`,
  );
  process.exitCode = isUsage ? 64 : 70;
}

async function main(argv: readonly string[]): Promise<number> {
  const args = readBenchArguments(argv);
  if (args.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (args.guard) {
    const report = await runGuard({ ...args.guard, say });
    const table = guardTable(report);
    say(`\n${table}\n\n${guardVerdict(report)}`);
    if (args.write) writeTables(new Map([["guard", `${provenance(report.own)}\n\n${table}`]]));
    return report.worse.length === 0 ? 0 : 1;
  }
  if (!existsSync(BINARY)) {
    process.stderr.write("dist/minimal/svc is missing. Build it first: npm run build -- minimal\n");
    return 66;
  }
  const results: Record<string, unknown> = {
    date: new Date().toISOString(),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  };
  for (const name of args.only) {
    const { profile, run } = BENCHES.get(name)!;
    const { result, tables } = await run({ ...args, say });
    results[name] = result;
    const table = tables.join("\n\n");
    say(table);
    // Written at once: a later bench that fails takes nothing back.
    if (args.write) writeTables(new Map([[name, `${provenance(profile)}\n\n${table}`]]));
  }
  const folder = join(import.meta.dirname, "../results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "latest.json"), `${JSON.stringify(results, null, 2)}\n`);
  return 0;
}
