/** `svc model test`: exit 0 when the model answers, 69 when its provider does not, 1 for anything else. */
import { EXIT } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { openBackend } from "../service/backend.ts";
import { modelReportText } from "../cli/model-report.ts";
import { printable } from "../cli/output.ts";

export async function run(context: CommandContext): Promise<number> {
  const agent = context.options.text("agent");
  await using backend = await openBackend(context);
  const body = agent === undefined ? {} : { agent };
  const report = await backend.call({ name: "model-test", body });
  if (context.options.flag("json")) context.printJson(report);
  else context.print(printable(modelReportText(report)));
  if (report.ok) return EXIT.ok;
  return report.error?.code.startsWith("MODEL_") ? EXIT.unavailable : EXIT.failure;
}
