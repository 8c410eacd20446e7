/** Conversations and messages in the words of `/api/sessions` and `svc sessions --json`: the same in both. */
import type { Json } from "@svc/contract";
import type { Device, TurnProblem } from "@svc/store";
import type { SessionInfo, SessionMessage, SessionPage } from "./types.ts";

/** `device`: whose it is, if a paired one's. The ClientId stays inside: it is an identity, not a name. */
export function sessionJson(
  session: SessionInfo,
  device: Pick<Device, "id" | "name"> | undefined,
  isOfProcedure: boolean,
): Json {
  return {
    id: session.id,
    session_id: session.name,
    device: device ? { id: device.id, name: device.name } : null,
    turns: session.turns,
    running: session.running,
    kind: session.channel ? "channel" : isOfProcedure ? "procedure" : "chat",
    channel: session.channel ? { ...session.channel, thread: session.channel.thread ?? null } : null,
    created_at: new Date(session.createdAt).toISOString(),
    updated_at: new Date(session.updatedAt).toISOString(),
  };
}

/** `isOperator`: who reads it may see what a model provider said. */
export function pageJson({ messages, before, followUps }: SessionPage, isOperator: boolean): Record<string, Json> {
  const newest = followUps ? { turn_id: followUps.turnId, can: followUps.ways } : null;
  return { messages: messages.map((message) => messageJson(message, isOperator)), before: before ?? null, newest };
}

function messageJson(message: SessionMessage, isOperator: boolean): Json {
  const { turnId, at, role, text, calls, state, kind, author, replaced, problem } = message;
  return {
    turn_id: turnId,
    at: new Date(at).toISOString(),
    role,
    text,
    calls: calls.map(({ callId, tool, input, ok, output }) => ({ call_id: callId, tool, input, ok, output })),
    state,
    kind,
    author: author ? { kind: author.kind, id: author.id ?? null, name: author.name ?? null } : null,
    replaced,
    problem: problem ? problemJson(problem, isOperator) : null,
  };
}

const problemJson = ({ code, reason, fix, said }: TurnProblem, isOperator: boolean): Json => ({
  code,
  reason,
  fix: fix ?? null,
  said: (isOperator ? said : undefined) ?? null,
});
