/** `pnpm bench --guard`: fails when this build costs more than 5 % more than the reference. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Build, buildAt, ownBuild, referenceBuild } from "./builds.ts";
import { LEAST_ROUNDS } from "./decide.ts";
import { type Figure, FIGURES, type Part, type Reference, readBaseline } from "./figures.ts";
import { type GuardLine, judge, logRatios, OWN, type Round, worseOf } from "./judge.ts";
import { measurePart, type Sample } from "./round.ts";

export interface GuardOptions {
  /** A binary with its build.json beside it; without: this checkout's minimal profile. */
  readonly binary: string | undefined;
  /** Instead of the baseline's references: `self`, a commit, or a binary. */
  readonly against: string | undefined;
  readonly parts: ReadonlySet<Part>;
  readonly rounds: number;
  /** No round begins that would end later. */
  readonly minutes: number;
  readonly say: (line: string) => void;
}

export interface GuardReport {
  readonly own: Build;
  readonly lines: readonly GuardLine[];
  /** Figures that are judged and worse. */
  readonly worse: readonly GuardLine[];
  readonly rounds: number;
  readonly seconds: number;
}

/** The best ever joins each third round: its distance is shown, not judged. */
const BEST_EVERY = 3;

export async function runGuard(options: GuardOptions): Promise<GuardReport> {
  const { parts, rounds, minutes, say } = options;
  if (process.platform !== "linux") throw new Error("The guard reads CPU time from /proc: it runs on Linux only.");
  const figures = FIGURES.filter(({ part }) => parts.has(part));
  const own = options.binary === undefined ? await ownBuild() : buildAt(resolve(options.binary));
  const { references, builds } = await buildsFor(figures, own, options);
  const startedMs = performance.now();
  const measured: Round[] = [];
  let longestMs = 0;
  for (let number = 0; number < rounds; number += 1) {
    const roundMs = performance.now();
    if (number >= LEAST_ROUNDS && roundMs - startedMs + longestMs > minutes * 60_000) {
      say(`${minutes} minutes are over: ${number} of ${rounds} rounds`);
      break;
    }
    const round = new Map<string, Sample>();
    for (const part of parts) {
      const named = figures.filter((figure) => figure.part === part).map(({ id }) => references.get(id)!);
      const others = named.flatMap(({ reference, best }) =>
        number % BEST_EVERY === 0 ? [reference, best] : [reference],
      );
      const order = rotated([...new Set([OWN, ...others])], number);
      const binaries = order.map((key) => (key === OWN ? own : builds.get(key)!).binary);
      const samples = await measurePart(part, binaries);
      for (const [at, key] of order.entries()) round.set(key, { ...round.get(key), ...samples[at]! });
    }
    measured.push(round);
    longestMs = Math.max(longestMs, performance.now() - roundMs);
    say(roundLine(number, round, figures, references));
  }
  save(own, references, measured);
  const lines = judge(figures, references, measured);
  return {
    own,
    lines,
    worse: worseOf(lines),
    rounds: measured.length,
    seconds: (performance.now() - startedMs) / 1000,
  };
}

async function buildsFor(
  figures: readonly Figure[],
  own: Build,
  { against, say }: GuardOptions,
): Promise<{ references: ReadonlyMap<string, Reference>; builds: ReadonlyMap<string, Build> }> {
  if (against !== undefined) {
    const other = against === "self" ? own : await otherBuild(against, say);
    const key = against === "self" ? "self" : other.commit;
    const references = new Map(figures.map(({ id }) => [id, { reference: key, best: key }]));
    return { references, builds: new Map([[key, other]]) };
  }
  const references = readBaseline();
  const builds = new Map<string, Build>();
  for (const { id } of figures) {
    const { reference, best } = references.get(id)!;
    for (const commit of [reference, best]) {
      if (!builds.has(commit)) builds.set(commit, await referenceBuild(commit, say));
    }
  }
  return { references, builds };
}

const otherBuild = (against: string, say: (line: string) => void): Promise<Build> | Build =>
  /^[0-9a-f]{40}$/.test(against) ? referenceBuild(against, say) : buildAt(resolve(against));

/** Each begins as often as the others; every second round goes backwards. */
function rotated(keys: readonly string[], round: number): string[] {
  const by = Math.floor(round / 2) % keys.length;
  const turned = [...keys.slice(by), ...keys.slice(0, by)];
  return round % 2 === 0 ? turned : turned.toReversed();
}

function roundLine(
  number: number,
  round: Round,
  figures: readonly Figure[],
  references: ReadonlyMap<string, Reference>,
): string {
  const ratios = figures.map((figure) => {
    const [ratio] = logRatios(figure, references.get(figure.id)!.reference, [round]);
    return `${figure.id} ${Math.exp(ratio!).toFixed(3)}`;
  });
  return `round ${number + 1}: ${ratios.join("  ")}`;
}

/** Everything that was measured, for a closer look. */
function save(own: Build, references: ReadonlyMap<string, Reference>, rounds: readonly Round[]): void {
  const folder = join(import.meta.dirname, "../../results");
  mkdirSync(folder, { recursive: true });
  const json = {
    date: new Date().toISOString(),
    own: { commit: own.commit, dirty: own.isDirty },
    references: Object.fromEntries(references),
    rounds: rounds.map((round) => Object.fromEntries(round)),
  };
  writeFileSync(join(folder, "guard.json"), `${JSON.stringify(json, null, 1)}\n`);
}
