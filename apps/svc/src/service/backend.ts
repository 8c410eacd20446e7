/** Where a chat turn or a tool call runs: in the daemon when one is there, else here, with the home to ourselves. */
import { homeOf } from "@svc/config/home";
import { SvcError } from "@svc/contract";
import { type Call, daemonAt } from "./control.ts";
import type { CommandContext } from "../cli/command.ts";

export interface Backend extends AsyncDisposable {
  readonly call: Call;
  /** Else there is none, and nothing runs but what is called here. */
  readonly isDaemon: boolean;
}

/** Throws what opening the service throws when there is no daemon. */
export async function openBackend(context: CommandContext): Promise<Backend> {
  const { controlSocket } = homeOf(context.env);
  const call = daemonAt(controlSocket);
  try {
    await call({ name: "ping" });
    return { call, isDaemon: true, [Symbol.asyncDispose]: async () => {} };
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "NOT_RUNNING") throw error;
  }
  const { openLocally } = await import("./local-backend.ts");
  return openLocally(context);
}
