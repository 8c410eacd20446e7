/** What the guard says: a Markdown table and a sentence. */
import { LIMIT, type Verdict } from "./decide.ts";
import type { GuardReport } from "./guard.ts";

export function guardTable({ lines, rounds }: GuardReport): string {
  const rows = lines.map(({ figure, own, reference, comparison, verdict, overBest }) => {
    const { ratio, low, high } = comparison;
    const cells = [
      `${figure.name}, ${figure.unit}`,
      shown(own),
      shown(reference),
      ratio.toFixed(3),
      `${low.toFixed(3)} to ${high.toFixed(3)}`,
      figure.isJudged ? WORDS[verdict] : "not judged",
      overBest?.toFixed(2) ?? "",
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    `| ${rounds} rounds | this build | reference | × reference | 95 % bounds | verdict | × best ever |`,
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

const WORDS: Readonly<Record<Verdict, string>> = {
  within: "within",
  open: "open",
  worse: "**worse**",
};

const shown = (value: number): string => value.toFixed(value < 100 ? 1 : 0);

export function guardVerdict({ lines, worse, seconds }: GuardReport): string {
  const commits = [...new Set(lines.map(({ referenceCommit }) => referenceCommit.slice(0, 8)))].join(", ");
  const percent = Math.round((LIMIT - 1) * 100);
  const took = `Measured in ${Math.round(seconds)} s.`;
  if (worse.length === 0)
    return `PASS: no figure is more than ${percent} % worse than the reference (${commits}). ${took}`;
  const figures = worse.map(({ figure, comparison }) => `${figure.id} (${comparison.ratio.toFixed(3)} ×)`).join(", ");
  return `FAIL: more than ${percent} % worse than the reference (${commits}) with 95 % confidence: ${figures}. ${took}`;
}
