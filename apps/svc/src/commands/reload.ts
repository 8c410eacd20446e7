/** `svc reload`: the running daemon reads its config again and says what changed. */
import { EXIT } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { homeOf } from "@svc/kernel/home";
import type { CommandContext } from "../cli/command.ts";
import type { ReloadReport } from "../service/reload.ts";

export async function run(context: CommandContext): Promise<number> {
  const { controlSocket } = homeOf(context.env);
  const report = (await callDaemon({ socketFile: controlSocket, name: "reload" })) as unknown as ReloadReport;
  if (context.options.flag("json")) context.printJson(report);
  else context.print(lines(report));
  return EXIT.ok;
}

function lines({ changed, features, restart, warnings }: ReloadReport): string {
  if (changed.length === 0) return "nothing changed";
  return [
    `changed: ${changed.map((section) => `[${section}]`).join(", ")}`,
    ...(features.length > 0 ? [`started anew: ${features.join(", ")}`] : []),
    ...(restart.length > 0 ? [`in force after a restart: ${restart.join(", ")}`] : []),
    ...warnings.map((warning) => `warning: ${warning}`),
  ].join("\n");
}
