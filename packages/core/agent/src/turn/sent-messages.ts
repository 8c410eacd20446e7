/**
 * Messages on disk before anything of their turns is told or done: a kill loses none that was taken, and what a killed process has
 * left is found again.
 */
import type { SvcError } from "@svc/contract";
import type { AgentProfile } from "../profiles.ts";
import type { TurnRequest } from "../types.ts";
import type { ActiveTurn, ActiveTurns } from "./active-turns.ts";
import type { Conversation, History } from "./history.ts";
import { recoverTurn, tellTurn, type TurnDeps } from "./whole-turn.ts";

export interface SentMessagesDeps {
  readonly turns: TurnDeps;
  readonly active: Pick<ActiveTurns, "count">;
  readonly history: History;
}

/** Turns of a conversation since a message failed that is replayed. */
const REPLACEABLE = 100;

export class SentMessages {
  readonly #deps: SentMessagesDeps;

  constructor(deps: SentMessagesDeps) {
    this.#deps = deps;
  }

  /** Resolves when the message is on disk. Rejects with STORE_*, and then nothing is kept and the turn is stopped. */
  async keep(turn: ActiveTurn, conversation: Conversation): Promise<void> {
    const { turns, active } = this.#deps;
    const { id: turnId, owner, name, request } = turn;
    const { id: sessionId } = conversation;
    turn.hold();
    try {
      // A turn that has come to its end meanwhile keeps its message with it.
      await new Promise<void>((resolve) => void setImmediate(resolve));
      await (turn.progress?.ending ?? this.#write(turn, conversation));
    } catch (error) {
      turn.limit.stop(error as SvcError);
      throw error;
    }
    turn.storedIn = sessionId;
    const waits = active.count(turn.key) > 1;
    if (waits) turns.publish?.({ type: "turn-store", turnId, sessionId: name, conversationId: sessionId, owner });
    request.onStored?.({ turnId, conversationId: sessionId, sessionId: name, waits });
    for (const event of turn.release()) tellTurn(turns, turn, event);
  }

  async #write(turn: ActiveTurn, conversation: Conversation): Promise<void> {
    const { turns, history } = this.#deps;
    const { store } = turns;
    const { id: turnId, owner, name, agent, request, sentAt: at } = turn;
    const { author, kind, replaces } = request;
    const { id: sessionId, place } = conversation;
    const meta = (author ?? kind) ? { ...(author && { author }), ...(kind && { kind }) } : undefined;
    const replaced = place && replaces !== undefined ? store.sessions.replaceable(place, replaces.turnId) : undefined;
    await store.write(() => {
      if (replaced !== undefined) store.sessions.replace(replaced);
      store.openTurns.add({ turnId, owner, name, sessionId, agent, at, text: request.text, meta });
    });
    if (replaced !== undefined) history.forget(conversation);
  }

  /** What an earlier attempt of the same turn has left in its conversation is told to no model beside this one. */
  async replace({ owner, name }: ActiveTurn, { turnId, sinceMs }: NonNullable<TurnRequest["replaces"]>): Promise<void> {
    const { turns, history } = this.#deps;
    const { store } = turns;
    const place = store.sessions.find(owner, name);
    const row = place && store.sessions.replaceable(place, turnId, REPLACEABLE, sinceMs);
    if (row === undefined) return;
    await store.write(() => store.sessions.replace(row));
    history.forget({ clientId: owner, name });
  }

  /** See `Agent.recover`. */
  async recover(profileOf: (agent: string) => AgentProfile | undefined): Promise<void> {
    const { turns, history } = this.#deps;
    for (const open of turns.store.openTurns.all()) {
      const { turnId, owner, name, sessionId, agent } = open;
      const profile = profileOf(agent);
      if (!profile) return;
      try {
        await recoverTurn(turns, open, { profile, conversation: history.open(owner, name, sessionId) });
      } catch (error) {
        history.forget({ clientId: owner, name });
        turns.log.error("a turn that the last process left could not be kept", { turn: turnId, error: String(error) });
        return;
      }
    }
  }
}
