/** What the command prints. */
import type { Finding } from "./check.ts";
import type { Outcome } from "./run.ts";

export function renderText(outcomes: readonly Outcome[]): string {
  const lines = outcomes.flatMap(({ id, ok, problems, warnings }) => [
    `${ok ? "ok     " : "FAILED "} ${id}${warnings.length > 0 ? ` (${plural(warnings.length, "warning")})` : ""}`,
    ...problems.flatMap((finding) => renderFinding(finding)),
    ...warnings.flatMap((finding) => renderFinding(finding)),
  ]);
  const failed = outcomes.filter(({ ok }) => !ok);
  const problems = failed.reduce((sum, one) => sum + one.problems.length, 0);
  const verdict =
    failed.length === 0
      ? `${plural(outcomes.length, "check")}, all ok`
      : `${failed.length} of ${plural(outcomes.length, "check")} failed, ${plural(problems, "problem")}`;
  return `${[...lines, "", verdict].join("\n")}\n`;
}

export const renderJson = (outcomes: readonly Outcome[]): string =>
  `${JSON.stringify({ ok: outcomes.every(({ ok }) => ok), checks: outcomes }, null, 2)}\n`;

const renderFinding = ({ file, line, message, fix, warning }: Finding): string[] => [
  `  ${file}${line === undefined ? "" : `:${line}`}: ${warning === true ? "warning: " : ""}${message}`,
  `    ${fix}`,
];

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
