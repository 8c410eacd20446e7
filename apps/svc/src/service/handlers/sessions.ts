/** Conversations for `svc sessions`: everybody's, marked with the device they belong to. */
import {
  checkedTitle,
  exportSession,
  foundJson,
  pageJson,
  type SessionInfo,
  sessionJson,
  type SessionOwner,
  type SessionService,
} from "@svc/agent";
import type { Session } from "@svc/api";
import { SvcError } from "@svc/contract";
import { proceduresIdentity } from "@svc/gateway/identity";
import type { Device } from "@svc/store";
import type { Handlers } from "../control.ts";
import { AN_OPERATOR, byPrefix } from "./input.ts";

export interface SessionDeps {
  readonly sessions: SessionService;
  readonly devices: () => readonly Device[];
}

/** A prefix is looked for among so many of the latest; a whole id is found however old its conversation. */
const MOST_LISTED = 10_000;

type Names =
  | "sessions"
  | "session-search"
  | "session-update"
  | "session-export"
  | "session-messages"
  | "session-cancel"
  | "session-delete";

export function sessionHandlers({ sessions, devices }: SessionDeps): Pick<Handlers, Names> {
  const find = (id: string): SessionInfo =>
    sessions.find(id) ?? byPrefix(sessions.list({}, MOST_LISTED), id, "SESSION_UNKNOWN", ({ title }) => title);
  const ownerOf = ({ clientId: owner }: SessionInfo): SessionOwner => ({
    device: devices().find(({ clientId }) => clientId === owner),
    isProcedure: owner === proceduresIdentity(),
  });
  const shown = (session: SessionInfo): Session => sessionJson(session, ownerOf(session));
  return {
    sessions: ({ body: { archived, limit } }) => ({ sessions: sessions.list({ archived }, limit).map(shown) }),
    "session-search": ({ body }) => {
      const page = sessions.search(body);
      return { results: page.results.map((found) => foundJson(found, ownerOf(found.session))) };
    },
    "session-update": async ({ body: { id: given, changes } }) => {
      const { id } = find(given);
      const { title } = changes;
      const session = await sessions.update(id, {
        ...changes,
        ...(title !== undefined && { title: checkedTitle(title) }),
      });
      if (!session) throw new SvcError("SESSION_UNKNOWN");
      return shown(session);
    },
    "session-export": async ({ body: { id, format } }) => {
      const session = find(id);
      const { text } = await exportSession(sessions, session, ownerOf(session), format);
      return { text };
    },
    "session-messages": ({ body: { id, ...page } }) => {
      const session = find(id);
      return { session: shown(session), ...pageJson(sessions.messages(session.id, page), true) };
    },
    "session-cancel": ({ body }) => {
      const { id } = find(body.id);
      return { id, cancelled: sessions.cancel(id, AN_OPERATOR) };
    },
    "session-delete": async ({ body: { id } }) => {
      const session = find(id);
      if (!(await sessions.remove(session.id, AN_OPERATOR))) throw new SvcError("SESSION_UNKNOWN");
      return shown(session);
    },
  };
}
