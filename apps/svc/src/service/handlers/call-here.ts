/** Asks the daemon; without one, the database of the home answers, for the commands that need no more than that. */
import { type Json, SvcError } from "@svc/contract";
import { callDaemon, type ControlCall } from "@svc/gateway/control";
import { type Home, homeOf, type LoadConfigOptions } from "@svc/kernel";
import type { CommandContext } from "../../cli/command.ts";
import { fileOption } from "../context.ts";

export interface Place {
  readonly home: Home;
  /** For the commands that read the config. */
  readonly config?: Omit<LoadConfigOptions, "home" | "text">;
}

/** Where a command that reads the config is at home. */
export async function placeOf(context: CommandContext): Promise<Required<Place>> {
  const { features, catalogue } = await context.build.load();
  return { home: homeOf(context.env), config: { env: context.env, features, catalogue, ...fileOption(context) } };
}

/** Throws what the daemon answered, or ALREADY_RUNNING and STORE_* of the database. */
export async function callHere(place: Place, call: Omit<ControlCall, "socketFile">): Promise<Json> {
  try {
    return await callDaemon({ ...call, socketFile: place.home.controlSocket });
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "NOT_RUNNING") throw error;
  }
  const { answerFromStore } = await import("./lone-store.ts");
  return answerFromStore(place, call);
}
