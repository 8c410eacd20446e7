/** `svc reload`: the running daemon reads its config again. `svc restart`: for what a reload can't change. */
import { homeOf } from "@svc/config/home";
import { EXIT, SvcError } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import type { CommandContext } from "../cli/command.ts";
import { reloadText, untilReplaced } from "../service/running-daemon.ts";
import type { ReloadReport } from "../service/reload.ts";

export async function reload(context: CommandContext): Promise<number> {
  const { controlSocket } = homeOf(context.env);
  const report = (await callDaemon({ socketFile: controlSocket, name: "reload" })) as unknown as ReloadReport;
  if (context.options.flag("json")) context.printJson(report);
  else context.print(reloadText(report));
  return EXIT.ok;
}

/** `svc restart`: for what a reload can't change. The process stays; a new binary needs the service manager. */
export async function restart(context: CommandContext): Promise<number> {
  const { controlSocket: socketFile } = homeOf(context.env);
  const { instance } = (await callDaemon({ socketFile, name: "status" })) as { instance: string };
  const { restarting } = (await callDaemon({ socketFile, name: "restart" })) as { restarting: boolean };
  if (!restarting) throw new SvcError("BUSY", "The daemon is restarting already.");
  const { url } = await untilReplaced(socketFile, instance);
  if (context.options.flag("json")) context.printJson({ restarted: true, url });
  else context.print(`restarted, listening on ${url}`);
  return EXIT.ok;
}
