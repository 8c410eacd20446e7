/** Where a chat turn or a tool call runs: in the daemon when one is there, else here, with the home to ourselves. */
import { type Json, SvcError } from "@svc/contract";
import { callDaemon, type ControlCall } from "@svc/gateway/control";
import { homeOf } from "@svc/config/home";
import type { CommandContext } from "../cli/command.ts";

export type Call = (call: Omit<ControlCall, "socketFile">) => Promise<Json>;

export interface Backend extends AsyncDisposable {
  readonly call: Call;
  /** Else there is none, and nothing runs but what is called here. */
  readonly isDaemon: boolean;
}

/** Throws what opening the service throws when there is no daemon. */
export async function openBackend(context: CommandContext): Promise<Backend> {
  const { controlSocket } = homeOf(context.env);
  const viaDaemon: Call = (call) => callDaemon({ ...call, socketFile: controlSocket });
  try {
    await viaDaemon({ name: "ping" });
    return { call: viaDaemon, isDaemon: true, [Symbol.asyncDispose]: async () => {} };
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "NOT_RUNNING") throw error;
  }
  const { openLocally } = await import("./local-backend.ts");
  return openLocally(context);
}
