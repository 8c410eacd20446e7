/** The arguments of `pnpm bench`. */
import { parseArgs } from "node:util";
import { BENCHES } from "./benches.ts";
import { LEAST_ROUNDS } from "./guard/decide.ts";
import { FIGURES, type Part } from "./guard/figures.ts";
import type { GuardOptions } from "./guard/guard.ts";

export const HELP = `Usage: npm run bench -- [--only names] [--write] [options]
       npm run bench -- --guard [--against build] [--write] [options]

Measures the built binary beside bare servers, in one run on one machine, and prints tables.

  --only names     some of: ${[...BENCHES.keys()].join(", ")}
  --seconds n      of each load (4)
  --rounds n       rounds, where a bench has them
  --requests n     requests of memory, ingest and plugins, subscribers of idle
  --write          write the tables into bench/README.md, with commit, date and machine

The guard for speed: compares this checkout's build with the reference that bench/baseline.json names for each figure, and
fails when a judged figure is more than 5 % worse with 95 % confidence. It builds the references once and keeps them in
$XDG_CACHE_HOME/svc-bench (or ~/.cache/svc-bench). Linux only; stop other work on the machine.

  --guard          run it
  --against build  instead of the baseline: "self" (a build against itself), a whole commit hash, or the path of a binary
                   with its build.json beside it; implies --guard
  --binary path    a binary instead of this checkout's build, with its build.json beside it
  --only parts     some of: turns, ingest, start, version
  --rounds n       at most so many rounds (12); at least 5
  --minutes n      begin no round that would end later (7)

Examples:
  npm run build -- minimal && npm run bench                 everything, some 40 minutes
  npm run bench -- --only startup,throughput --write        two benches, and their tables in the README
  npm run bench -- --guard --write                          the guard, 8 minutes; one more for the first run
  npm run bench -- --guard --only start,version --rounds 20 what a change of the start costs
  npm run bench -- --against ../other/dist/minimal/svc      this build and another one

Exit codes: 0 passed, 1 a figure is worse, 64 wrong arguments, 66 no binary, 70 the measurement failed.
`;

export class BenchUsageError extends Error {}

export interface BenchArguments {
  readonly help: boolean;
  readonly write: boolean;
  readonly guard: Omit<GuardOptions, "say"> | undefined;
  readonly only: readonly string[];
  readonly seconds: number;
  readonly rounds: number | undefined;
  readonly requests: number | undefined;
}

/** @throws BenchUsageError */
export function readBenchArguments(argv: readonly string[]): BenchArguments {
  const values = parsed(argv);
  const isGuard = values.guard || values.against !== undefined || values.binary !== undefined;
  const known: readonly string[] = isGuard ? [...new Set(FIGURES.map(({ part }) => part))] : [...BENCHES.keys()];
  const only = values.only?.split(",") ?? known;
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new BenchUsageError(`--only: unknown name ${unknown}. Known: ${known.join(", ")}.`);
  const rounds = number("--rounds", values.rounds);
  if (isGuard && rounds !== undefined && rounds < LEAST_ROUNDS) {
    throw new BenchUsageError(`--rounds: the guard needs ${LEAST_ROUNDS} or more.`);
  }
  const minutes = number("--minutes", values.minutes) ?? 7;
  return {
    help: values.help,
    write: values.write,
    guard: isGuard
      ? {
          binary: values.binary,
          against: values.against,
          parts: new Set(only as Part[]),
          rounds: rounds ?? 12,
          minutes,
        }
      : undefined,
    only,
    seconds: number("--seconds", values.seconds) ?? 4,
    rounds,
    requests: number("--requests", values.requests),
  };
}

function parsed(argv: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({
      args: [...argv],
      options: {
        help: { ...flag, short: "h" },
        write: flag,
        guard: flag,
        against: text,
        binary: text,
        only: text,
        seconds: text,
        rounds: text,
        requests: text,
        minutes: text,
      },
    }).values;
  } catch (error) {
    throw new BenchUsageError((error as Error).message, { cause: error });
  }
}

function number(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0)) throw new BenchUsageError(`${name}: a number above 0 is expected.`);
  return value;
}
