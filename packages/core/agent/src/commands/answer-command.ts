/** A command said by whoever waits for the answer: at the terminal, on the page, in a request. */
import type { Store } from "@svc/store";
import { modelName } from "../models/open-model.ts";
import type { LimitedClient } from "../money/budget.ts";
import type { AgentProfile } from "../profiles.ts";
import type { ActiveTurn } from "../turn/active-turns.ts";
import type { TurnResult } from "../types.ts";
import type { Command } from "./command.ts";
import type { Commands } from "./commands.ts";

export interface AnswerDeps {
  readonly store: Pick<Store, "idempotency">;
  readonly commands: Commands;
  /** Messages that wait behind it. */
  readonly waiting: number;
  readonly limitedClient: LimitedClient;
}

export async function answerCommand(
  { store, commands, waiting, limitedClient }: AnswerDeps,
  turn: ActiveTurn,
  profile: AgentProfile,
  command: Command,
): Promise<TurnResult> {
  const { claim, inTransaction } = turn.request;
  const { owner, name } = turn;
  const response = await commands.settle(command, {
    profile,
    owner,
    name,
    client: limitedClient(turn.request.clientId),
    waiting,
    inTransaction(response) {
      if (claim) store.idempotency.keep(claim, turn.id, "done");
      inTransaction?.({ response });
    },
  });
  return commandResult(turn, commands.answering({ profile, owner, name }), response);
}

/** No model has answered, and nothing was used. */
export function commandResult(
  { id: turnId, name: sessionId }: ActiveTurn,
  profile: AgentProfile,
  response: string,
): TurnResult {
  const { name: agent, model } = profile;
  return { turnId, agent, response, model: modelName(model), sessionId, inputTokens: 0, outputTokens: 0, costUsd: 0 };
}
