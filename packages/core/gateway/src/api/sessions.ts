/** Conversations: a token sees its own, an operator everybody's, marked with the device. */
import { pageJson, type SessionInfo, sessionJson, type SessionMessage } from "@svc/agent";
import { SvcError, type Json } from "@svc/contract";
import type { Author, Device } from "@svc/store";
import type { Devices } from "../auth/devices.ts";
import { jsonReply } from "../http/reply.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { limitOf } from "./fields.ts";
import * as spec from "./session-specs.ts";
import { isOfProcedure, type SessionTurnDeps, sessionTurnRoutes } from "./session-turns.ts";

export interface SessionRouteDeps extends SessionTurnDeps {
  readonly devices: Pick<Devices, "ofClient" | "ofId">;
}

export function sessionRoutes(deps: SessionRouteDeps): ApiRoute[] {
  const { sessions } = deps;
  const view = new SessionsView(deps);
  return [
    { ...spec.LIST, handle: ({ device, query }) => jsonReply(200, { sessions: view.list(device, limitOf(query)) }) },
    { ...spec.FIND, handle: (request) => jsonReply(200, view.shown(view.find(request))) },
    { ...spec.MESSAGES, handle: (request) => jsonReply(200, view.messages(view.find(request), request)) },
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
        return jsonReply(200, { id, deleted: true });
      },
    },
    ...sessionTurnRoutes(deps, (request) => view.find(request)),
  ];
}

class SessionsView {
  readonly #sessions: SessionRouteDeps["sessions"];
  readonly #devices: SessionRouteDeps["devices"];

  constructor({ sessions, devices }: SessionRouteDeps) {
    this.#sessions = sessions;
    this.#devices = devices;
  }

  list(device: Device, limit: number): Json {
    const filter = device.scope === "operator" ? {} : { clientId: device.clientId };
    return this.#sessions.list(filter, limit).map((session) => this.shown(session));
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
    return sessionJson(session, this.#devices.ofClient(session.clientId), isOfProcedure(session));
  }
}
