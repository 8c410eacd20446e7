/** Conversations and messages in the words of `/api/sessions` and `svc sessions --json`: the same in both. */
import type * as api from "@svc/api";
import { TITLE_CHARS } from "@svc/api";
import { SvcError } from "@svc/contract";
import { type Device, shortened, type TurnProblem } from "@svc/store";
import type { FoundMessage, SessionInfo, SessionMessage, SessionPage } from "./types.ts";

const PREVIEW_CHARS = 160;

/** Whose a conversation is. */
export interface SessionOwner {
  /** If a paired one's. */
  readonly device: Pick<Device, "id" | "name"> | undefined;
  readonly isProcedure: boolean;
}

/** The ClientId stays inside: it is an identity, not a name. */
export function sessionJson(session: SessionInfo, { device, isProcedure }: SessionOwner): api.Session {
  return {
    id: session.id,
    session_id: session.name,
    device: device ? { id: device.id, name: device.name } : null,
    title: shownTitle(session) ?? null,
    titled_by: session.titledBy,
    preview: shortened(session.preview, PREVIEW_CHARS),
    unread: session.unread,
    pinned: session.isPinned,
    archived: session.isArchived,
    agent: session.agent ?? null,
    model: session.model ?? null,
    turns: session.turns,
    running: session.running,
    kind: session.channel ? "channel" : isProcedure ? "procedure" : "chat",
    channel: session.channel ? { ...session.channel, thread: session.channel.thread ?? null } : null,
    created_at: new Date(session.createdAt).toISOString(),
    updated_at: new Date(session.updatedAt).toISOString(),
  };
}

/** `isOperator`: who reads it may see what a model provider said. */
export function pageJson({ messages, before, followUps }: SessionPage, isOperator: boolean): api.SessionPage {
  const newest = followUps ? { turn_id: followUps.turnId, can: followUps.ways } : null;
  return { messages: messages.map((message) => messageJson(message, isOperator)), before: before ?? null, newest };
}

export function messageJson(message: SessionMessage, isOperator: boolean): api.SessionMessage {
  const { turnId, at, role, text, files, calls, state, kind, author, replaced, problem } = message;
  return {
    turn_id: turnId,
    at: new Date(at).toISOString(),
    role,
    text,
    files: files.map(({ id, name, type, size }) => ({ id, name, type, size })),
    calls: calls.map(({ callId, ...call }) => ({ call_id: callId, ...call })),
    state,
    kind,
    author: author ? { kind: author.kind, id: author.id ?? null, name: author.name ?? null } : null,
    replaced,
    problem: problem ? problemJson(problem, isOperator) : null,
  };
}

const problemJson = ({ code, reason, fix, said }: TurnProblem, isOperator: boolean): api.TurnProblem => ({
  code,
  reason,
  fix: fix ?? null,
  said: (isOperator ? said : undefined) ?? null,
});

/** Undefined: nothing was said in words, and nobody named it. */
export const shownTitle = ({ title }: Pick<SessionInfo, "title">): string | undefined =>
  title === "" ? undefined : shortened(title, TITLE_CHARS);

/** Without the spaces around it. Throws BAD_REQUEST for a title that is no line of text. */
export function checkedTitle(title: string): string {
  const line = title.trim();
  const isLine = line.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(line);
  if (line !== "" && line.length <= TITLE_CHARS && isLine) return line;
  throw new SvcError("BAD_REQUEST", `title must have 1 to ${TITLE_CHARS} characters in one line.`);
}

export function foundJson(found: FoundMessage, owner: SessionOwner): api.SessionFound {
  return {
    session: sessionJson(found.session, owner),
    turn_id: found.turnId,
    at: new Date(found.at).toISOString(),
    role: found.role,
    snippet: found.snippet.map(({ text, isHit }) => ({ text, hit: isHit })),
  };
}
