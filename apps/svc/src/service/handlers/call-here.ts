/** Asks the daemon; without one, the database of the home answers, for the commands that need no more than that. */
import { type Json, SvcError } from "@svc/contract";
import { callDaemon, type ControlCall } from "@svc/gateway/control";
import type { Place } from "./place.ts";

/** Throws what the daemon answered, or ALREADY_RUNNING and STORE_* of the database. */
export async function callHere(place: Place, call: Omit<ControlCall, "socketFile">): Promise<Json> {
  try {
    return await callDaemon({ ...call, socketFile: place.home.controlSocket });
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "NOT_RUNNING") throw error;
  }
  const { answerFromStore } = await import("./offline-store.ts");
  return answerFromStore(place, call);
}
