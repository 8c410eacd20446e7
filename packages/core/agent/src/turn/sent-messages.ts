/**
 * Messages on disk before anything of their turns is told or done: a kill loses none that was taken, and what a killed process has
 * left is found again.
 */
import { type Logger, SvcError, type TurnEvent } from "@svc/contract";
import type { SentFile, Store } from "@svc/store";
import type { Attachments } from "../attachments/attachments.ts";
import type { AgentProfile } from "../profiles.ts";
import type { TurnRequest } from "../types.ts";
import type { ActiveTurn, ActiveTurns } from "./active-turns.ts";
import type { Conversation, History } from "./history.ts";
import type { TurnExecutor } from "./execute.ts";

export interface SentMessagesDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly publish: ((event: TurnEvent) => void) | undefined;
  readonly executor: Pick<TurnExecutor, "emit" | "recover">;
  readonly active: Pick<ActiveTurns, "count">;
  readonly history: History;
  readonly attachments: Attachments | undefined;
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
    const { publish, executor, active } = this.#deps;
    const { id: turnId, owner, name, request } = turn;
    const { id: sessionId } = conversation;
    turn.hold();
    try {
      const placed = turn.hasFiles ? await this.#place(turn) : [];
      // A turn that has come to its end meanwhile keeps its message with it.
      await new Promise<void>((resolve) => void setImmediate(resolve));
      await (turn.progress?.ending ?? this.#write(turn, conversation, placed));
      if (placed.length > 0) void this.#deps.attachments?.sent(placed);
    } catch (error) {
      turn.limit.stop(error as SvcError);
      throw error;
    }
    turn.storedIn = sessionId;
    const waits = active.count(turn.key) > 1;
    if (waits) publish?.({ type: "turn-store", turnId, sessionId: name, conversationId: sessionId, owner });
    request.onStored?.({ turnId, conversationId: sessionId, sessionId: name, waits });
    for (const event of turn.release()) executor.emit(turn, event);
  }

  /** Its files are in the workspace, and on disk, before its message is. Resolves with those that are new. */
  async #place(turn: ActiveTurn): Promise<SentFile[]> {
    const { files = [], filesAgain = [], clientId } = turn.request;
    const { attachments } = this.#deps;
    if (files.length > 0 && !attachments) throw new SvcError("FILE_UNKNOWN");
    const placed = (await attachments?.place(clientId, files, turn.agent)) ?? [];
    turn.files = [...filesAgain, ...placed];
    return placed;
  }

  async #write(turn: ActiveTurn, conversation: Conversation, placed: readonly SentFile[]): Promise<void> {
    const { store, history, attachments } = this.#deps;
    const { id: turnId, owner, name, agent, request, sentAt: at } = turn;
    const { author, kind, replaces } = request;
    const { id: sessionId, place } = conversation;
    const files = turn.files.length > 0 ? turn.files : undefined;
    const meta =
      (author ?? kind ?? files)
        ? { ...(author && { author }), ...(kind && { kind }), ...(files && { files }) }
        : undefined;
    const replaced = place && replaces !== undefined ? store.sessions.replaceable(place, replaces.turnId) : undefined;
    await store.write(() => {
      if (replaced !== undefined) store.sessions.replace(replaced);
      attachments?.send(placed, { owner, name, turnId });
      store.openTurns.add({ turnId, owner, name, sessionId, agent, at, text: request.text, meta });
    });
    if (replaced !== undefined) history.forget(conversation);
  }

  /** What an earlier attempt of the same turn has left in its conversation is told to no model beside this one. */
  async replace({ owner, name }: ActiveTurn, { turnId, sinceMs }: NonNullable<TurnRequest["replaces"]>): Promise<void> {
    const { store, history } = this.#deps;
    const place = store.sessions.find(owner, name);
    const row = place && store.sessions.replaceable(place, turnId, REPLACEABLE, sinceMs);
    if (row === undefined) return;
    await store.write(() => store.sessions.replace(row));
    history.forget({ clientId: owner, name });
  }

  /** See `Agent.recover`. */
  async recover(profileOf: (agent: string) => AgentProfile | undefined): Promise<void> {
    const { store, log, history, executor } = this.#deps;
    for (const open of store.openTurns.all()) {
      const { turnId, owner, name, sessionId, agent } = open;
      const profile = profileOf(agent);
      if (!profile) return;
      try {
        await executor.recover(open, { profile, conversation: history.open(owner, name, sessionId) });
      } catch (error) {
        history.forget({ clientId: owner, name });
        log.error("a turn that the last process left could not be kept", { turn: turnId, error: String(error) });
        return;
      }
    }
  }
}
