/** From what the rounds measured to a verdict for each figure. */
import { compare, type Comparison, type Verdict, verdictOf } from "./decide.ts";
import type { Baseline, Figure, Reference } from "./figures.ts";
import type { Sample } from "./round.ts";

/** By commit: what each build measured in a round. */
export type Round = ReadonlyMap<string, Sample>;

/** The key of the build that is judged. */
export const OWN = "own";

export interface GuardLine {
  readonly figure: Figure;
  /** Medians of the rounds. */
  readonly own: number;
  readonly reference: number;
  readonly comparison: Comparison;
  readonly verdict: Verdict;
  readonly referenceCommit: string;
  /** How many times the best ever; undefined when it was not measured. */
  readonly overBest: number | undefined;
}

export function judge(figures: readonly Figure[], baseline: Baseline, rounds: readonly Round[]): GuardLine[] {
  return figures.map((figure) => lineOf(figure, baseline.get(figure.id)!, rounds));
}

/** For these the guard fails. */
export const worseOf = (lines: readonly GuardLine[]): GuardLine[] =>
  lines.filter(({ figure, verdict }) => figure.isJudged && verdict === "worse");

function lineOf(figure: Figure, { reference, best }: Reference, rounds: readonly Round[]): GuardLine {
  const values = (key: string): number[] => rounds.flatMap((round) => round.get(key)?.[figure.id] ?? []);
  const comparison = compare(logRatios(figure, reference, rounds));
  const overBest = logRatios(figure, best, rounds);
  return {
    figure,
    own: middle(values(OWN)),
    reference: middle(values(reference)),
    comparison,
    verdict: verdictOf(comparison),
    referenceCommit: reference,
    overBest: overBest.length === 0 ? undefined : Math.exp(middle(overBest)),
  };
}

/** New over the other, of the rounds in which both were measured. */
export function logRatios({ id }: Figure, other: string, rounds: readonly Round[]): number[] {
  return rounds.flatMap((round) => {
    const [own, theirs] = [round.get(OWN)?.[id], round.get(other)?.[id]];
    return own === undefined || theirs === undefined ? [] : [Math.log(own / theirs)];
  });
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) / 2;
  return (sorted[Math.floor(at)]! + sorted[Math.ceil(at)]!) / 2;
}
