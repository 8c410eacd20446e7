/** Findings as a person reads them. */
import type { Finding, FindingLevel } from "./finding.ts";
import { grouped, groupOf, HEALTH } from "./groups.ts";

/** One after the other. */
export const reportText = (findings: readonly Finding[]): string =>
  [...lines(findings, widthOf(findings)), "", counts(findings, ["error", "warning", "ok"])].join("\n");

/** Question by question. Of what is not about security only what is wrong: the rest is another question. */
export function securityText(findings: readonly Finding[]): string {
  const shown = findings.filter((finding) => finding.level !== "ok" || groupOf(finding) !== HEALTH);
  const width = widthOf(shown);
  return [
    ...grouped(shown).flatMap(({ group, findings: own }) => [group.title, ...lines(own, width), ""]),
    counts(shown, ["error", "warning", "note", "ok"]),
  ].join("\n");
}

const widthOf = (findings: readonly Finding[]): number => Math.max(...findings.map(({ id }) => id.length));

/** A sentence may have several lines (a problem of the config): the others stand below its first. */
const lines = (findings: readonly Finding[], width: number): string[] =>
  findings.map(({ id, level, message, fix }) => {
    const indent = " ".repeat(9 + width + 2);
    const first = `${level.padEnd(7)}  ${id.padEnd(width)}  ${message.replaceAll("\n", `\n${indent}`)}`;
    return fix === undefined ? first : `${first}\n${indent}→ ${fix}`;
  });

const counts = (findings: readonly Finding[], levels: readonly FindingLevel[]): string =>
  levels.map((level) => `${findings.filter((finding) => finding.level === level).length} ${NAMES[level]}`).join(", ");

const NAMES: Readonly<Record<FindingLevel, string>> = { error: "errors", warning: "warnings", note: "notes", ok: "ok" };
