/** `svc daemon`: the service in the foreground, until it is told to stop. */
import { SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { runDaemon } from "../service/daemon/daemon.ts";

export async function run(context: CommandContext): Promise<number> {
  if (context.options.flag("json") && !context.startTrace) {
    throw new SvcError("USAGE", "svc daemon prints JSON only with --trace-start.", { hint: "See: svc daemon --help" });
  }
  return runDaemon(context);
}
