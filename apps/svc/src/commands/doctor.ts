/** `svc doctor`: what is wrong, or with --security what is open, and what fixes it. Exit 1 when something is an error. */
import { EXIT } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import type { Finding } from "../doctor/finding.ts";
import { groupOf, reportText, securityText } from "../doctor/report.ts";
import { DOCTOR_PART } from "../binary/self-command.ts";
import { printable } from "../cli/output.ts";

export async function run(context: CommandContext): Promise<number> {
  if (context.env[DOCTOR_PART] !== undefined) {
    const { runChecks } = await import("../doctor/run-checks.ts");
    return runChecks(context);
  }
  const { superviseChecks } = await import("../doctor/supervise.ts");
  const isPosture = context.options.flag("security");
  const config = context.options.text("config");
  const findings = await superviseChecks({ security: isPosture, config, env: context.env });
  const sound = !findings.some(({ level }) => level === "error");
  if (context.options.flag("json")) {
    context.printJson({ ok: sound, findings: findings.map(isPosture ? withGroup : asJson) });
  } else context.print(printable((isPosture ? securityText : reportText)(findings)));
  return sound ? EXIT.ok : EXIT.failure;
}

const asJson = ({ id, level, message, fix }: Finding): object => ({ id, level, message, fix: fix ?? null });

const withGroup = (finding: Finding): object => ({ group: groupOf(finding).id, ...asJson(finding) });
