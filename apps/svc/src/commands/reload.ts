/** `svc reload`: the running daemon reads its config again. `svc restart`: for what a reload can't change. */
import { homeOf } from "@svc/config/home";
import { EXIT, SvcError } from "@svc/contract";
import { daemonAt } from "../service/control.ts";
import type { CommandContext } from "../cli/command.ts";
import { reloadText, untilReplaced } from "../service/running-daemon.ts";

export async function reload(context: CommandContext): Promise<number> {
  const report = await daemonAt(homeOf(context.env).controlSocket)({ name: "reload" });
  if (context.options.flag("json")) context.printJson(report);
  else context.print(reloadText(report));
  return EXIT.ok;
}

/** The process stays; a new binary needs the service manager. */
export async function restart(context: CommandContext): Promise<number> {
  const call = daemonAt(homeOf(context.env).controlSocket);
  const { instance } = await call({ name: "status" });
  const { restarting } = await call({ name: "restart" });
  if (!restarting) throw new SvcError("BUSY", "The daemon is restarting already.");
  const { url } = await untilReplaced(call, instance);
  if (context.options.flag("json")) context.printJson({ restarted: true, url });
  else context.print(`restarted, listening on ${url}`);
  return EXIT.ok;
}
