/** `svc daemon`: the service in the foreground, until it is told to stop. */
import type { CommandContext } from "../cli/command.ts";
import { runDaemon } from "../service/daemon/daemon.ts";

export function run(context: CommandContext): Promise<number> {
  return runDaemon(context);
}
