/** Conversations for `svc sessions`: everybody's, marked with the device they belong to. */
import { pageJson, type SessionInfo, sessionJson, type SessionService } from "@svc/agent";
import { type Json, SvcError } from "@svc/contract";
import { proceduresIdentity } from "@svc/gateway/identity";
import type { ControlHandlers } from "@svc/gateway/control";
import type { Device } from "@svc/store";
import { byPrefix } from "./by-prefix.ts";
import { AN_OPERATOR } from "./operator.ts";

export interface SessionDeps {
  readonly sessions: SessionService;
  readonly devices: () => readonly Device[];
}

/** A prefix is looked for among so many of the latest; a whole id is found however old its conversation. */
const MOST_LISTED = 10_000;
const PAGE = 100;

export function sessionHandlers({ sessions, devices }: SessionDeps): ControlHandlers {
  const find = (value: Json | undefined): SessionInfo => {
    const id = typeof value === "string" ? value : "";
    return sessions.find(id) ?? byPrefix(sessions.list({}, MOST_LISTED), id, "SESSION_UNKNOWN");
  };
  const shown = (session: SessionInfo): Json =>
    sessionJson(
      session,
      devices().find(({ clientId }) => clientId === session.clientId),
      session.clientId === proceduresIdentity(),
    );
  return {
    sessions: ({ body }) => ({ sessions: sessions.list({}, count(body["limit"], MOST_LISTED)).map(shown) }),
    "session-messages": ({ body }) => {
      const session = find(body["id"]);
      const before = typeof body["before"] === "string" ? { before: body["before"] } : {};
      const page = sessions.messages(session.id, { limit: count(body["limit"], PAGE), ...before });
      return { session: shown(session), ...pageJson(page, true) };
    },
    "session-cancel": ({ body }) => {
      const session = find(body["id"]);
      return { id: session.id, cancelled: sessions.cancel(session.id, AN_OPERATOR) };
    },
    "session-delete": async ({ body }) => {
      const session = find(body["id"]);
      if (!(await sessions.remove(session.id, AN_OPERATOR))) throw new SvcError("SESSION_UNKNOWN");
      return shown(session);
    },
  };
}

function count(value: Json | undefined, most: number): number {
  if (value === undefined) return most;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new SvcError("USAGE", `The limit must be 1 to ${most}.`);
}
