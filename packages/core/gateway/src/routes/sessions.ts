/** Conversations: a token sees its own, an operator everybody's, marked with the device. */
import {
  checkedTitle,
  exportSession,
  foundJson,
  pageJson,
  type SessionInfo,
  sessionJson,
  type SessionMessage,
  type SessionOwner,
} from "@svc/agent";
import {
  name,
  Session,
  SessionCancelled,
  SessionDeleted,
  SessionExportQuery,
  SessionList,
  SessionListQuery,
  SessionPage,
  SessionPageQuery,
  SessionRead,
  SessionSearchQuery,
  SessionSearchResults,
  SessionUpdate,
} from "@svc/api";
import { type ClientId, SvcError } from "@svc/contract";
import type { Author, Device } from "@svc/store";
import * as v from "valibot";
import type { Devices } from "../auth/authenticator.ts";
import { Reply } from "../http/reply.ts";
import { type FileRouteDeps, fileRoutes } from "./files.ts";
import {
  type ApiRequest,
  apiRoute,
  type ApiRoute,
  type ApiSpec,
  type BodyLimits,
  jsonBody,
  limitOf,
  respond,
} from "./route.ts";
import { isOfProcedure, type SessionTurnDeps, sessionTurnRoutes } from "./session-turns.ts";

/** Completes "The turn was stopped by …". */
const BY = "an operator";

const params = { id: name("The conversation's id.") };
const errors = ["SESSION_UNKNOWN"] as const;

const LIST = {
  method: "GET",
  path: "/api/sessions",
  access: "read",
  summary: "Lists conversations: pinned ones first, then the most recently active.",
  details: "A token sees its own; an operator's sees all of them.",
  query: SessionListQuery,
  answers: {
    200: {
      description: "The conversations. The query `archived` includes archived ones.",
      body: SessionList,
    },
  },
} satisfies ApiSpec;

const SEARCH = {
  method: "GET",
  path: "/api/sessions/search",
  access: "read",
  summary: "Finds what was said, the newest first.",
  details:
    "All words must be in one turn; the last one may be the beginning of a word, and a phrase stands in double quotes. Case and " +
    "accents make no difference, and there is no other syntax. A token searches its own conversations; an operator's searches all.",
  query: SessionSearchQuery,
  answers: {
    200: {
      description: "One result for each turn that has the words.",
      body: SessionSearchResults,
    },
  },
} satisfies ApiSpec;

const UPDATE = {
  method: "PATCH",
  path: "/api/sessions/{id}",
  access: "operate",
  summary: "Renames, pins or archives a conversation, or chooses who answers in it.",
  details: "Omitted fields stay unchanged. A new message restores an archived conversation.",
  params,
  body: SessionUpdate,
  answers: { 200: { description: "The conversation as it is now.", body: Session } },
  errors: [...errors, "AGENT_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

const READ = {
  method: "POST",
  path: "/api/sessions/{id}/read",
  access: "operate",
  summary: "Marks turns of a conversation as read, for all operators.",
  params,
  body: SessionRead,
  answers: { 200: { description: "The conversation as it is now.", body: Session } },
  errors: [...errors, "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

const EXPORT = {
  method: "GET",
  path: "/api/sessions/{id}/export",
  access: "read",
  summary: "Answers a whole conversation as a file.",
  params,
  query: SessionExportQuery,
  answers: {
    200: {
      description: "A file to save: Markdown by default, or JSON.",
      type: "application/octet-stream",
      body: v.string(),
      headers: { "Content-Disposition": v.pipe(v.string(), v.description("With the name of the file.")) },
    },
  },
  errors: [...errors, "TOO_LARGE"],
} satisfies ApiSpec;

const FIND = {
  method: "GET",
  path: "/api/sessions/{id}",
  access: "read",
  summary: "Tells about one conversation.",
  params,
  answers: { 200: { description: "The conversation.", body: Session } },
  errors,
} satisfies ApiSpec;

const MESSAGES = {
  method: "GET",
  path: "/api/sessions/{id}/messages",
  access: "read",
  summary: "Reads a conversation, from its end backwards.",
  params,
  query: SessionPageQuery,
  answers: { 200: { description: "A page, the oldest message first.", body: SessionPage } },
  errors,
} satisfies ApiSpec;

const CANCEL = {
  method: "POST",
  path: "/api/sessions/{id}/cancel",
  access: "operate",
  summary: "Stops what runs and waits in a conversation.",
  params,
  answers: {
    200: {
      description: "Whether there was anything to stop.",
      body: SessionCancelled,
    },
  },
  errors,
} satisfies ApiSpec;

const REMOVE = {
  method: "DELETE",
  path: "/api/sessions/{id}",
  access: "operate",
  summary: "Stops what runs in a conversation and deletes it.",
  params,
  answers: {
    200: { description: "It is gone from the disk.", body: SessionDeleted },
  },
  errors: [...errors, "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

export const SESSION_SPECS = [LIST, SEARCH, FIND, UPDATE, READ, MESSAGES, EXPORT, CANCEL, REMOVE];

export interface SessionRouteDeps extends SessionTurnDeps, FileRouteDeps {
  readonly devices: Pick<Devices, "ofClient" | "ofId">;
  readonly bodies: BodyLimits;
}

export function sessionRoutes(deps: SessionRouteDeps): ApiRoute[] {
  const { sessions, bodies, attachments } = deps;
  const view = new SessionsView(deps);
  return [
    apiRoute(LIST, (request) => respond(LIST, 200, view.list(request))),
    apiRoute(SEARCH, (request) => respond(SEARCH, 200, view.search(request))),
    apiRoute(FIND, (request) => respond(FIND, 200, view.shown(view.find(request)))),
    apiRoute(MESSAGES, (request) => respond(MESSAGES, 200, view.messages(view.find(request), request))),
    apiRoute(UPDATE, async (request) => {
      const { id } = view.find(request);
      const update = await jsonBody(request, SessionUpdate, bodies);
      if (update instanceof Reply) return update;
      const { title } = update;
      const changes = typeof title === "string" ? { ...update, title: checkedTitle(title) } : update;
      return respond(UPDATE, 200, view.changed(await sessions.update(id, changes)));
    }),
    apiRoute(READ, async (request) => {
      const { id } = view.find(request);
      const body = await jsonBody(request, SessionRead, bodies);
      if (body instanceof Reply) return body;
      return respond(READ, 200, view.changed(await sessions.markRead(id, body.turns)));
    }),
    apiRoute(EXPORT, async (request) => {
      const session = view.find(request);
      const { format = "markdown" } = request.query;
      const { text, fileName } = await exportSession(sessions, session, view.ownerOf(session), format);
      // What people and models wrote is saved, and never drawn as a page of ours.
      return new Reply(200, "application/octet-stream", text, [
        "content-disposition",
        `attachment; filename="${fileName}"`,
      ]);
    }),
    apiRoute(CANCEL, (request) => {
      const { id } = view.find(request);
      return respond(CANCEL, 200, { id, cancelled: sessions.cancel(id, BY) });
    }),
    apiRoute(REMOVE, async (request) => {
      const { id } = view.find(request);
      // Another request may have removed it since `find`.
      if (!(await sessions.remove(id, BY))) throw new SvcError("SESSION_UNKNOWN");
      // What can't be removed now is removed within the hour.
      await attachments.sweep().catch(() => {});
      return respond(REMOVE, 200, { id, deleted: true });
    }),
    ...sessionTurnRoutes(deps, (request) => view.find(request)),
    ...fileRoutes(deps, (request) => view.find(request)),
  ];
}

class SessionsView {
  readonly #sessions: SessionRouteDeps["sessions"];
  readonly #devices: SessionRouteDeps["devices"];

  constructor({ sessions, devices }: SessionRouteDeps) {
    this.#sessions = sessions;
    this.#devices = devices;
  }

  list({ device, query }: ApiRequest<SessionListQuery>): SessionList {
    const archived = ARCHIVED[query.archived ?? "false"];
    const page = this.#sessions.page({ ...ownerFor(device), archived }, limitOf(query), query.before);
    return { sessions: page.sessions.map((session) => this.shown(session)), before: page.before ?? null };
  }

  search({ device, query }: ApiRequest<SessionSearchQuery>): SessionSearchResults {
    const { q, before } = query;
    const page = this.#sessions.search({ ...ownerFor(device), query: q, limit: limitOf(query), before });
    const results = page.results.map((found) => foundJson(found, this.ownerOf(found.session)));
    return { results, before: page.before ?? null };
  }

  /** Throws SESSION_UNKNOWN: it was removed meanwhile. */
  changed(session: SessionInfo | undefined): Session {
    if (!session) throw new SvcError("SESSION_UNKNOWN");
    return this.shown(session);
  }

  /** Throws SESSION_UNKNOWN, for a foreign one as for none: what others have is not to be found out. */
  find({ device, params }: Pick<ApiRequest, "device" | "params">): SessionInfo {
    const session = this.#sessions.find(params["id"] ?? "");
    if (!session || (device.scope !== "operator" && session.clientId !== device.clientId)) {
      throw new SvcError("SESSION_UNKNOWN");
    }
    return session;
  }

  messages(info: SessionInfo, { query, device }: ApiRequest<SessionPageQuery>): SessionPage {
    const { before } = query;
    const page = this.#sessions.messages(info.id, { limit: limitOf(query), ...(before !== undefined && { before }) });
    const messages = page.messages.map((message) => this.#named(message));
    const canFollow = info.channel === undefined && !isOfProcedure(info);
    const shown = { ...page, messages, followUps: canFollow ? page.followUps : undefined };
    return pageJson(shown, device.scope === "operator");
  }

  /** A device's author has the name that it has now. */
  #named(message: SessionMessage): SessionMessage {
    const { author } = message;
    const name = author?.kind === "device" ? this.#devices.ofId(author.id ?? "")?.name : undefined;
    return author && name !== undefined ? { ...message, author: { ...author, name } satisfies Author } : message;
  }

  shown(session: SessionInfo): Session {
    return sessionJson(session, this.ownerOf(session));
  }

  ownerOf(session: SessionInfo): SessionOwner {
    return { device: this.#devices.ofClient(session.clientId), isProcedure: isOfProcedure(session) };
  }
}

const ARCHIVED = { false: false, true: true, all: undefined } as const;

/** An operator's token sees everybody's conversations. */
const ownerFor = ({ scope, clientId }: Device): { readonly clientId?: ClientId } =>
  scope === "operator" ? {} : { clientId };
