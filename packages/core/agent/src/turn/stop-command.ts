/** `/stop`, said in a conversation: it does not queue up behind the turn that it is to stop, and no model sees it. */
import type { Store } from "@svc/store";
import { commandResult } from "../commands/answer-command.ts";
import type { AgentProfile } from "../profiles.ts";
import type { TurnResult } from "../types.ts";
import type { ActiveTurn } from "./active-turns.ts";

export const isStopCommand = (text: string): boolean => text.length < 100 && text.trim().toLowerCase() === "/stop";

/** Nothing of it is kept but its idempotency key: a `/stop` sent again must not stop the turn after. */
export async function answerStop(
  store: Store,
  turn: ActiveTurn,
  profile: AgentProfile,
  isStopped: boolean,
): Promise<TurnResult> {
  const { claim, inTransaction } = turn.request;
  const response = isStopped ? "Stopped." : "Nothing was running.";
  if (claim || inTransaction) {
    await store.write(() => {
      if (claim) store.idempotency.keep(claim, turn.id, "done");
      inTransaction?.({ response });
    });
  }
  return commandResult(turn, profile, response);
}
