/** `svc doctor`: what is wrong, and the command that mends it. Exit 1 when something is an error. */
import { EXIT } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { printable } from "../cli/question.ts";
import type { Finding, FindingLevel } from "../doctor/finding.ts";
import { DOCTOR_PART } from "../doctor/self-command.ts";

export async function run(context: CommandContext): Promise<number> {
  if (context.env[DOCTOR_PART] !== undefined) {
    const { runChecks } = await import("../doctor/run-checks.ts");
    return runChecks(context);
  }
  const { superviseChecks } = await import("../doctor/supervise.ts");
  const findings = await superviseChecks(context);
  const sound = !findings.some(({ level }) => level === "error");
  if (context.options.flag("json")) context.printJson({ ok: sound, findings: findings.map(asJson) });
  else context.print(printable(report(findings)));
  return sound ? EXIT.ok : EXIT.failure;
}

const asJson = ({ id, level, message, fix }: Finding): object => ({ id, level, message, fix: fix ?? null });

function report(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ id }) => id.length));
  const count = (wanted: FindingLevel): number => findings.filter(({ level }) => level === wanted).length;
  return [
    ...findings.map((finding) => lines(finding, width)),
    "",
    `${count("error")} errors, ${count("warning")} warnings, ${count("ok")} ok`,
  ].join("\n");
}

/** A sentence may have several lines (a problem of the config): the others stand below its first. */
function lines({ id, level, message, fix }: Finding, width: number): string {
  const indent = " ".repeat(9 + width + 2);
  const first = `${level.padEnd(7)}  ${id.padEnd(width)}  ${message.replaceAll("\n", `\n${indent}`)}`;
  return fix === undefined ? first : `${first}\n${indent}→ ${fix}`;
}
