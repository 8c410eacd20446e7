/** The conversations of all owners, on disk and under way. Who may see which is for the caller to decide. */
import { SvcError } from "@svc/contract";
import type { SessionSummary, Store } from "@svc/store";
import { type ActiveTurn, type ActiveTurns, REMOVED } from "../turn/active-turns.ts";
import { type Conversation, conversationKey, type History } from "../turn/history.ts";
import type { Lanes } from "../turn/lanes.ts";
import { messagePage } from "./message-page.ts";
import type {
  RunningTurn,
  SessionFilter,
  SessionInfo,
  SessionPage,
  SessionPageRequest,
  SessionService,
} from "./types.ts";

export interface SessionParts {
  readonly store: Store;
  readonly active: ActiveTurns;
  readonly lanes: Lanes;
  readonly history: History;
  readonly redact: (text: string) => string;
}

export class Sessions implements SessionService {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  list(filter: SessionFilter, limit: number): SessionInfo[] {
    const stored = this.#parts.store.sessions.list(filter, limit);
    const ids = new Set(stored.map(({ id }) => id));
    const begun = this.#begun().filter(
      ({ id, clientId }) => !ids.has(id) && (filter.clientId === undefined || filter.clientId === clientId),
    );
    const active = this.#parts.active.keys();
    return [...begun.reverse(), ...stored.map((session) => infoOf(session, active))].slice(0, limit);
  }

  find(id: string): SessionInfo | undefined {
    const stored = this.#parts.store.sessions.byId(id);
    return stored ? infoOf(stored, this.#parts.active.keys()) : this.#begun().find((session) => session.id === id);
  }

  messages(id: string, page: SessionPageRequest): SessionPage {
    const { store, redact } = this.#parts;
    const stored = store.sessions.byId(id);
    if (stored) return messagePage(store, stored.place, page, redact);
    if (this.find(id)) return { messages: [], before: undefined };
    throw new SvcError("SESSION_UNKNOWN");
  }

  cancel(id: string, by = "a request to cancel it"): boolean {
    const session = this.find(id);
    return session !== undefined && this.#parts.active.stop(conversationKey(session.clientId, session.name), by);
  }

  async remove(id: string, by = "the removal of its conversation"): Promise<boolean> {
    const { store, active, lanes, history } = this.#parts;
    const session = this.find(id);
    if (!session) return false;
    const key = conversationKey(session.clientId, session.name);
    active.stop(key, by, REMOVED);
    // In the lane: what was stopped is at its end then, with whatever it still had to write, and what comes after begins
    // anew. Nothing can write the removed conversation back.
    return lanes.alone(key, async () => {
      const wasStored = await store.write(() => store.sessions.remove(id));
      history.forget(session);
      return wasStored || session.turns === 0;
    });
  }

  running(): RunningTurn[] {
    const { store, active } = this.#parts;
    return active.running().map(({ id: turnId, agent, owner, name, startedAt, conversation }) => {
      const sessionId = (conversation.place && store.sessions.idOf(conversation.place)) ?? conversation.id;
      return { turnId, agent, sessionId, sessionName: name, clientId: owner, startedAt };
    });
  }

  /** Conversations whose first turn runs: not on disk yet. Oldest first. */
  #begun(): SessionInfo[] {
    return this.#parts.active.running().filter(isFirst).map(begunInfo);
  }
}

function infoOf(session: SessionSummary, active: ReadonlySet<string>): SessionInfo {
  const { id, clientId, name, createdAt, updatedAt, turns } = session;
  const running = active.has(conversationKey(clientId, name));
  return { id, clientId, name, createdAt, updatedAt, turns, running };
}

type BegunTurn = ActiveTurn & { readonly conversation: Conversation };

const isFirst = ({ conversation }: BegunTurn): boolean => conversation.place === undefined;

function begunInfo({ owner: clientId, name, startedAt, conversation }: BegunTurn): SessionInfo {
  const { id } = conversation;
  return { id, clientId, name, createdAt: startedAt, updatedAt: startedAt, turns: 0, running: true };
}
