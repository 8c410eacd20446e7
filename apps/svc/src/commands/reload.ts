/** `svc reload`: the running daemon reads its config again and says what changed. */
import { EXIT } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { homeOf } from "@svc/config/home";
import type { CommandContext } from "../cli/command.ts";
import { reloadText } from "../cli/tell-daemon.ts";
import type { ReloadReport } from "../service/reload.ts";

export async function run(context: CommandContext): Promise<number> {
  const { controlSocket } = homeOf(context.env);
  const report = (await callDaemon({ socketFile: controlSocket, name: "reload" })) as unknown as ReloadReport;
  if (context.options.flag("json")) context.printJson(report);
  else context.print(reloadText(report));
  return EXIT.ok;
}
