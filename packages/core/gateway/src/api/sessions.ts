/** Conversations: a token sees its own, an operator everybody's, marked with the device. */
import {
  checkedTitle,
  type ExportFormat,
  exportSession,
  foundJson,
  pageJson,
  type SessionInfo,
  sessionJson,
  type SessionMessage,
  type SessionOwner,
  type SessionUpdate,
} from "@svc/agent";
import { type ClientId, SvcError, type Json } from "@svc/contract";
import type { Author, Device } from "@svc/store";
import type { Devices } from "../auth/devices.ts";
import { jsonReply, Reply } from "../http/reply.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { type BodyLimits, jsonBody } from "./body.ts";
import { limitOf } from "./fields.ts";
import { type FileRouteDeps, fileRoutes } from "./files.ts";
import * as spec from "./session-specs.ts";
import { isOfProcedure, type SessionTurnDeps, sessionTurnRoutes } from "./session-turns.ts";

export interface SessionRouteDeps extends SessionTurnDeps, FileRouteDeps {
  readonly devices: Pick<Devices, "ofClient" | "ofId">;
  readonly bodies: BodyLimits;
}

export function sessionRoutes(deps: SessionRouteDeps): ApiRoute[] {
  const { sessions, bodies, attachments } = deps;
  const view = new SessionsView(deps);
  return [
    { ...spec.LIST, handle: (request) => jsonReply(200, view.list(request)) },
    { ...spec.SEARCH, handle: (request) => jsonReply(200, view.search(request)) },
    { ...spec.FIND, handle: (request) => jsonReply(200, view.shown(view.find(request))) },
    { ...spec.MESSAGES, handle: (request) => jsonReply(200, view.messages(view.find(request), request)) },
    {
      ...spec.UPDATE,
      async handle(request) {
        const { id } = view.find(request);
        const body = await jsonBody(request, spec.UPDATE.body, bodies);
        if (body instanceof Reply) return body;
        const update = (body ?? {}) as SessionUpdate;
        const { title } = update;
        const changes = typeof title === "string" ? { ...update, title: checkedTitle(title) } : update;
        return jsonReply(200, view.changed(await sessions.update(id, changes)));
      },
    },
    {
      ...spec.READ,
      async handle(request) {
        const { id } = view.find(request);
        const body = await jsonBody(request, spec.READ.body, bodies);
        if (body instanceof Reply) return body;
        return jsonReply(200, view.changed(await sessions.markRead(id, (body as { turns: number }).turns)));
      },
    },
    {
      ...spec.EXPORT,
      async handle(request) {
        const session = view.find(request);
        const format = (request.query["format"] as ExportFormat | undefined) ?? "markdown";
        const { text, fileName } = await exportSession(sessions, session, view.ownerOf(session), format);
        // What people and models wrote is saved, and never drawn as a page of ours.
        return new Reply(200, "application/octet-stream", text, [
          "content-disposition",
          `attachment; filename="${fileName}"`,
        ]);
      },
    },
    {
      ...spec.CANCEL,
      handle: (request) => {
        const { id } = view.find(request);
        return jsonReply(200, { id, cancelled: sessions.cancel(id, spec.BY) });
      },
    },
    {
      ...spec.REMOVE,
      async handle(request) {
        const { id } = view.find(request);
        // Between the two somebody else may have been quicker.
        if (!(await sessions.remove(id, spec.BY))) throw new SvcError("SESSION_UNKNOWN");
        // What can't be removed now is removed within the hour.
        await attachments.sweep().catch(() => {});
        return jsonReply(200, { id, deleted: true });
      },
    },
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

  list({ device, query }: ApiRequest): Json {
    const archived = ARCHIVED[(query["archived"] as keyof typeof ARCHIVED | undefined) ?? "false"];
    const before = query["before"] as string | undefined;
    const page = this.#sessions.page({ ...ownerFor(device), archived }, limitOf(query), before);
    return { sessions: page.sessions.map((session) => this.shown(session)), before: page.before ?? null };
  }

  search({ device, query }: ApiRequest): Json {
    const before = query["before"] as string | undefined;
    const text = query["q"] as string;
    const page = this.#sessions.search({ ...ownerFor(device), query: text, limit: limitOf(query), before });
    const results = page.results.map((found) => foundJson(found, this.ownerOf(found.session)));
    return { results, before: page.before ?? null };
  }

  /** Throws SESSION_UNKNOWN: it was removed meanwhile. */
  changed(session: SessionInfo | undefined): Json {
    if (!session) throw new SvcError("SESSION_UNKNOWN");
    return this.shown(session);
  }

  /** Throws SESSION_UNKNOWN, for a foreign one as for none: what others have is not to be found out. */
  find({ device, params }: ApiRequest): SessionInfo {
    const session = this.#sessions.find(params["id"] ?? "");
    if (!session || (device.scope !== "operator" && session.clientId !== device.clientId)) {
      throw new SvcError("SESSION_UNKNOWN");
    }
    return session;
  }

  messages(info: SessionInfo, { query, device }: ApiRequest): Json {
    const before = query["before"] as string | undefined;
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

  shown(session: SessionInfo): Json {
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
