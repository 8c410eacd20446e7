/** Asks the daemon; without one, the database of the home answers, for the commands that need no more than that. */
import type { Home, LoadConfigOptions } from "@svc/config";
import { homeOf } from "@svc/config/home";
import { SvcError } from "@svc/contract";
import { type Call, daemonAt } from "../control.ts";
import type { CommandContext } from "../../cli/command.ts";
import { fileOption } from "../../cli/options.ts";

/** Throws what the daemon answered, or ALREADY_RUNNING and STORE_* of the database. */
export const callHere =
  (offline: OfflineOptions): Call =>
  async (call) => {
    try {
      return await daemonAt(offline.home.controlSocket)(call);
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== "NOT_RUNNING") throw error;
    }
    const { answerFromStore } = await import("./offline-store.ts");
    return answerFromStore(offline, call);
  };

/** Where a command that needs no whole service finds what it needs. */
export interface OfflineOptions {
  readonly home: Home;
  /** For the commands that read the config. */
  readonly config?: Omit<LoadConfigOptions, "home" | "text">;
}

/** With the config. */
export async function offlineOptions(context: CommandContext): Promise<Required<OfflineOptions>> {
  const { features, catalogue } = await context.build.load();
  return { home: homeOf(context.env), config: { env: context.env, features, catalogue, ...fileOption(context) } };
}
