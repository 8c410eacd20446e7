/** Conversations and messages in the words of `/api/sessions` and `svc sessions --json`: the same in both. */
import type { Json } from "@svc/contract";
import type { Device } from "@svc/store";
import type { SessionInfo, SessionMessage } from "./types.ts";

/** `device`: whose it is, if a paired one's. The ClientId stays inside: it is an identity, not a name. */
export function sessionJson(session: SessionInfo, device: Pick<Device, "id" | "name"> | undefined): Json {
  return {
    id: session.id,
    session_id: session.name,
    device: device ? { id: device.id, name: device.name } : null,
    turns: session.turns,
    running: session.running,
    created_at: new Date(session.createdAt).toISOString(),
    updated_at: new Date(session.updatedAt).toISOString(),
  };
}

export function messageJson({ turnId, at, role, text, calls }: SessionMessage): Json {
  return {
    turn_id: turnId,
    at: new Date(at).toISOString(),
    role,
    text,
    calls: calls.map(({ callId, tool, input, ok, output }) => ({ call_id: callId, tool, input, ok, output })),
  };
}
