/** Conversations for `svc sessions`: everybody's, marked with the device they belong to. */
import { EXPORT_FORMATS } from "@svc/api";
import {
  checkedTitle,
  type ExportFormat,
  exportSession,
  foundJson,
  pageJson,
  type SessionInfo,
  sessionJson,
  type SessionOwner,
  type SessionService,
  type SessionUpdate,
} from "@svc/agent";
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
const MAX_QUERY_CHARS = 200;

export function sessionHandlers({ sessions, devices }: SessionDeps): ControlHandlers {
  const find = (value: Json | undefined): SessionInfo => {
    const id = typeof value === "string" ? value : "";
    return sessions.find(id) ?? byPrefix(sessions.list({}, MOST_LISTED), id, "SESSION_UNKNOWN", ({ title }) => title);
  };
  const ownerOf = ({ clientId: owner }: SessionInfo): SessionOwner => ({
    device: devices().find(({ clientId }) => clientId === owner),
    isProcedure: owner === proceduresIdentity(),
  });
  const shown = (session: SessionInfo): Json => sessionJson(session, ownerOf(session));
  return {
    sessions: ({ body }) => {
      const archived = body["archived"] === true;
      return { sessions: sessions.list({ archived }, count(body["limit"], MOST_LISTED)).map(shown) };
    },
    "session-search": ({ body }) => {
      const query = typeof body["query"] === "string" ? body["query"].slice(0, MAX_QUERY_CHARS) : "";
      const page = sessions.search({ query, limit: count(body["limit"], PAGE) });
      return { results: page.results.map((found) => foundJson(found, ownerOf(found.session))) };
    },
    "session-update": async ({ body }) => {
      const { id } = find(body["id"]);
      const session = await sessions.update(id, updateOf(body["changes"]));
      if (!session) throw new SvcError("SESSION_UNKNOWN");
      return shown(session);
    },
    "session-export": async ({ body }) => {
      const session = find(body["id"]);
      const format = EXPORT_FORMATS.find((known) => known === body["format"]);
      if (format === undefined) throw new SvcError("USAGE", `--format takes ${EXPORT_FORMATS.join(" or ")}.`);
      const { text } = await exportSession(sessions, session, ownerOf(session), format satisfies ExportFormat);
      return { text };
    },
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

/** Throws BAD_REQUEST. */
function updateOf(value: Json | undefined): SessionUpdate {
  const { title, pinned, archived } = (value ?? {}) as { readonly [name: string]: Json };
  return {
    ...(typeof title === "string" && { title: checkedTitle(title) }),
    ...(typeof pinned === "boolean" && { pinned }),
    ...(typeof archived === "boolean" && { archived }),
  };
}
