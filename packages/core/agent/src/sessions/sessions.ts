/** The conversations of all owners, on disk and under way. Who may see which is for the caller to decide. */
import {
  type ClientId,
  type Clock,
  type Conversation,
  type Inbound,
  type Json,
  type SessionEvent,
  SvcError,
} from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/config";
import {
  type Author,
  type ListPosition,
  type NewMessage,
  type SessionSummary,
  spokenTexts,
  type Store,
  titleOf,
} from "@svc/store";
import { keyOfSession, asJson, jsonAs } from "@svc/kit";
import { choosableNames } from "../models/agent-models.ts";
import type { AgentProfile } from "../profiles.ts";
import { type ActiveTurn, type ActiveTurns, REMOVED, type TurnQueue } from "../turn/active-turns.ts";
import { followUpsOf } from "../turn/follow-up.ts";
import { type History, conversationKey, cutOff, questionWith, userMessage } from "../turn/history.ts";
import { messagePage, shownMessages } from "./shown-messages.ts";
import { searchMessages } from "./search.ts";
import type {
  RunningTurn,
  SearchPage,
  SearchRequest,
  SessionFilter,
  SessionInfo,
  SessionListPage,
  SessionMessage,
  SessionPage,
  SessionPageRequest,
  SessionService,
  SessionUpdate,
} from "./types.ts";

export interface SessionDeps {
  readonly store: Store;
  readonly active: ActiveTurns;
  readonly queue: TurnQueue;
  readonly history: History;
  readonly clock: Pick<Clock, "now">;
  readonly redact: (text: string) => string;
  readonly publish?: ((event: SessionEvent) => void) | undefined;
  /** An agent of the config. */
  readonly profileOf: (name: string) => AgentProfile | undefined;
}

export class Sessions implements SessionService {
  readonly #deps: SessionDeps;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  list(filter: SessionFilter, limit: number): SessionInfo[] {
    const stored = this.#deps.store.sessions.list(filter, limit);
    const { clientId: owner, archived } = filter;
    const begun = this.#begun().filter(
      ({ clientId }) => (owner === undefined || owner === clientId) && archived !== true,
    );
    return [...begun.reverse(), ...this.#infosOf(stored)].slice(0, limit);
  }

  page(filter: SessionFilter, limit: number, before?: string): SessionListPage {
    // One more than is asked for: then there is a next page.
    const listed =
      before === undefined
        ? this.list(filter, limit + 1)
        : this.#infosOf(this.#deps.store.sessions.list(filter, limit + 1, positionOf(before)));
    const sessions = listed.slice(0, limit);
    return { sessions, before: listed.length > limit ? cursorOf(sessions.at(-1)) : undefined };
  }

  search(request: SearchRequest): SearchPage {
    const active = this.#deps.active.keys();
    return searchMessages({ ...this.#deps, infoOf: (session) => this.#infoOf(session, active) }, request);
  }

  async update(id: string, { agent, model, ...changes }: SessionUpdate): Promise<SessionInfo | undefined> {
    const { store, clock, profileOf } = this.#deps;
    const before = store.sessions.byId(id);
    if (before === undefined) return undefined;
    const { clientId, name } = before;
    const chosen = agent === undefined ? store.conversations.choiceOf(clientId, name).agent : (agent ?? undefined);
    if (typeof agent === "string" && profileOf(agent) === undefined) throw new SvcError("AGENT_UNKNOWN");
    if (typeof model === "string") {
      const names = choosableNames(profileOf(chosen ?? DEFAULT_AGENT) ?? profileOf(DEFAULT_AGENT)!);
      if (!names.includes(model)) {
        throw new SvcError("BAD_REQUEST", `model must be one that the agent can answer with: ${names.join(", ")}.`);
      }
    }
    const isThere = await store.write(() => {
      const nowMs = clock.now();
      if (!store.sessions.change(id, changes, nowMs)) return false;
      if (agent !== undefined) store.conversations.chooseAgent(clientId, name, agent ?? undefined, nowMs);
      if (model !== undefined) store.conversations.choose(clientId, name, model ?? undefined, nowMs);
      return true;
    });
    return isThere ? this.changed(id) : undefined;
  }

  async markRead(id: string, turns: number): Promise<SessionInfo | undefined> {
    const { store } = this.#deps;
    const isNews = await store.write(() => store.sessions.markRead(id, turns));
    return isNews ? this.changed(id) : this.find(id);
  }

  /** Every page that shows the list reads it again. */
  changed(id: string): SessionInfo | undefined {
    const session = this.find(id);
    if (session) {
      this.#deps.publish?.({ type: "session-updated", id, sessionId: session.name, owner: session.clientId });
    }
    return session;
  }

  find(id: string): SessionInfo | undefined {
    const stored = this.#deps.store.sessions.byId(id);
    return stored ? this.#infoOf(stored, this.#deps.active.keys()) : this.#begun().find((session) => session.id === id);
  }

  messages(id: string, page: SessionPageRequest): SessionPage {
    const { store, redact } = this.#deps;
    const info = this.find(id);
    if (!info) throw new SvcError("SESSION_UNKNOWN");
    const stored = store.sessions.byId(id);
    const ended = stored ? messagePage(store, stored.place, page, redact) : { messages: [], before: undefined };
    if (page.before !== undefined) return { ...ended, followUps: undefined };
    const open = this.#open(info, new Set(ended.messages.map(({ turnId }) => turnId)));
    const newest = stored && !info.running ? store.sessions.turnsBefore(stored.place, 1).turns[0] : undefined;
    const ways = newest ? followUpsOf(newest) : [];
    return {
      messages: [...ended.messages, ...open],
      before: ended.before,
      followUps: newest && ways.length > 0 ? { turnId: newest.id, ways } : undefined,
    };
  }

  /** What was said, and what has come of the answers, in turns that have not ended. */
  #open({ clientId, name, channel }: SessionInfo, shown: ReadonlySet<string>): SessionMessage[] {
    const { store, active, redact } = this.#deps;
    const open = active.stored(conversationKey(clientId, name)).map(ofActive);
    // What came by a channel, or by a caller that does not wait, is in the inbox.
    const inboxKey = channel ? name : keyOfSession(clientId, name);
    const waiting = store.inbox.waitingIn(inboxKey).map(({ turnId, receivedAtMs, body }) => {
      const { sender, text } = jsonAs<Inbound>(body);
      const running = active.running().find((turn) => turn.id === turnId);
      const about = { id: turnId, at: receivedAtMs, replaced: false } as const;
      const meta = { author: channel ? ({ kind: "person", id: sender } as const) : authorOfSender(sender) };
      const messages = running?.progress ? messagesOf(running) : [userMessage(text)];
      return { ...about, meta, messages, state: running ? ("running" as const) : ("waiting" as const) };
    });
    return [...open, ...waiting].filter(({ id }) => !shown.has(id)).flatMap((turn) => shownMessages(turn, redact));
  }

  cancel(id: string, by = "a request to cancel it"): boolean {
    const session = this.find(id);
    return session !== undefined && this.#deps.active.stop(conversationKey(session.clientId, session.name), by);
  }

  async remove(id: string, by = "the removal of its conversation"): Promise<boolean> {
    const { store, active, queue, history } = this.#deps;
    const session = this.find(id);
    if (!session) return false;
    const key = conversationKey(session.clientId, session.name);
    active.stop(key, by, REMOVED);
    // In the queue: what was stopped is at its end then, with whatever it still had to write, and what comes after begins
    // anew. Nothing can write the removed conversation back.
    return queue.alone(key, async () => {
      const wasStored = await store.write(() => store.sessions.remove(id));
      history.forget(session);
      // What was sent since begins another conversation, of the same name.
      for (const turn of active.stored(key)) turn.storedIn = crypto.randomUUID();
      return wasStored || session.turns === 0;
    });
  }

  agentOf(id: string): string | undefined {
    const { store } = this.#deps;
    const stored = store.sessions.byId(id);
    return stored && store.sessions.turnsBefore(stored.place, 1).turns[0]?.meta?.agent;
  }

  running(): RunningTurn[] {
    const { store, active } = this.#deps;
    return active.running().map(({ id: turnId, agent, owner, name, startedAt, conversation }) => {
      const sessionId = (conversation.place && store.sessions.idOf(conversation.place)) ?? conversation.id;
      return { turnId, agent, sessionId, sessionName: name, clientId: owner, startedAt };
    });
  }

  #infosOf(stored: readonly SessionSummary[]): SessionInfo[] {
    const active = this.#deps.active.keys();
    return stored.map((session) => this.#infoOf(session, active));
  }

  #infoOf(session: SessionSummary, active: ReadonlySet<string>): SessionInfo {
    const { store, redact } = this.#deps;
    const { id, clientId, name, createdAt, updatedAt, turns, title, titledBy, preview } = session;
    const { unread, isPinned, isArchived, newestTurn } = session;
    const running = active.has(conversationKey(clientId, name));
    return {
      id,
      clientId,
      name,
      createdAt,
      updatedAt,
      turns,
      running,
      channel: conversationIn(name),
      unread,
      isPinned,
      isArchived,
      newestTurn,
      title: redact(title),
      titledBy,
      preview: redact(preview),
      ...store.conversations.choiceOf(clientId, name),
    };
  }

  /** Conversations none of whose turns has ended: not on disk as such yet. Oldest first. */
  #begun(): SessionInfo[] {
    const { store, active } = this.#deps;
    const begun = new Map<string, SessionInfo>();
    for (const turn of [...active.running(), ...active.stored()]) {
      const id = turn.conversation?.id ?? turn.storedIn;
      const isFirst = turn.conversation ? turn.conversation.place === undefined : true;
      if (id === undefined || !isFirst || begun.has(id) || store.sessions.byId(id)) continue;
      begun.set(id, begunInfo(id, turn, this.#deps.redact));
    }
    return [...begun.values()].sort((a, b) => a.createdAt - b.createdAt);
  }
}

/** Called as it will be when its first turn is kept. */
function begunInfo(id: string, turn: ActiveTurn, redact: (text: string) => string): SessionInfo {
  const { owner: clientId, name, sentAt, request, files } = turn;
  const said = asJson(questionWith(request.text, files));

  return {
    id,
    clientId,
    name,
    createdAt: sentAt,
    updatedAt: sentAt,
    turns: 0,
    running: true,
    channel: conversationIn(name),
    title: redact(request.title ?? titleOf(spokenTexts([said]))),
    titledBy: "words",
    preview: "",
    unread: 0,
    isPinned: false,
    isArchived: false,
    newestTurn: 0,
    agent: undefined,
    model: undefined,
  };
}

function ofActive(turn: ActiveTurn) {
  const { id, sentAt: at, request, files, progress } = turn;
  const { author, kind } = request;
  const meta = { ...(author && { author }), ...(kind && { kind }), files };
  const state = progress ? ("running" as const) : ("waiting" as const);
  return { id, at, state, meta, replaced: false, messages: messagesOf(turn) };
}

/** So far. */
function messagesOf({ request, files, progress }: ActiveTurn): ReturnType<typeof cutOff> {
  if (!progress) return [questionWith(request.text, files)];
  const { partial } = progress;
  const said = partial
    ? [{ role: "assistant" as const, content: [{ type: "text" as const, text: partial.text }] }]
    : [];
  return [...progress.messages, ...said];
}

/** Only channels make such names: those of clients have no brackets. One that was put aside has a number behind it. */
function conversationIn(name: string): Conversation | undefined {
  if (!name.startsWith('["')) return undefined;
  const [channel, id, thread] = JSON.parse(name.slice(0, name.lastIndexOf("]") + 1)) as [string, string, string?];
  return { channel, id, ...(thread !== undefined && { thread }) };
}

/** Of a list: whether it ends among the pinned ones, and with which turn. */
const cursorOf = (last: SessionInfo | undefined): string | undefined =>
  last &&
  `${last.isPinned || last.newestTurn === 0 ? 1 : 0}.${last.newestTurn === 0 ? Number.MAX_SAFE_INTEGER : last.newestTurn}`;

function positionOf(cursor: string): ListPosition {
  const [, pinned, turn] = /^([01])\.(\d{1,16})$/.exec(cursor) ?? [];
  if (turn === undefined) throw new SvcError("BAD_REQUEST", "The cursor is not one that a page of conversations gave.");
  return { isPinned: pinned === "1", newestTurn: Number(turn) };
}

/**
 * A message of a caller of the HTTP API that does not wait for its answer. It belongs to a session of that caller, and to no
 * conversation of the channel that delivers the answer. Its key names the session (`keyOfSession`).
 */
interface UnawaitedMessage {
  readonly owner: ClientId;
  /** Name of the session. */
  readonly session: string;
  /** Where the answer goes: the same for nobody else's session. */
  readonly conversation: Conversation;
  /** For a person: whose it is. */
  readonly sender: string;
  readonly text: string;
  /** Handed to the channel with the answer. */
  readonly replyData: Json;
}

export function sessionMessageOf({ owner, session, ...inbound }: UnawaitedMessage): NewMessage {
  return { kind: "message", conversationKey: keyOfSession(owner, session), body: asJson(inbound) };
}

/** Who wrote such a message, by its sender. */
export const authorOfSender = (sender: string): Author =>
  sender === ANONYMOUS ? { kind: "anonymous" } : { kind: "device", id: sender };

/** Sender of what came without a token. */
const ANONYMOUS = "anonymous";
