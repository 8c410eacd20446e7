/** `svc restart`: for what a reload can't change. The process stays; a new binary needs the service manager. */
import { EXIT, SvcError } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { homeOf } from "@svc/config/home";
import type { CommandContext } from "../cli/command.ts";
import { untilReplaced } from "../service/until-replaced.ts";

export async function run(context: CommandContext): Promise<number> {
  const { controlSocket: socketFile } = homeOf(context.env);
  const { instance } = (await callDaemon({ socketFile, name: "status" })) as { instance: string };
  const { restarting } = (await callDaemon({ socketFile, name: "restart" })) as { restarting: boolean };
  if (!restarting) throw new SvcError("BUSY", "The daemon is restarting already.");
  const { url } = await untilReplaced(socketFile, instance);
  if (context.options.flag("json")) context.printJson({ restarted: true, url });
  else context.print(`restarted, listening on ${url}`);
  return EXIT.ok;
}
