/**
 * Messages of operators to conversations of any device. A message is on disk when it is answered 202: the answer
 * comes by the events, and stands in the conversation, whether the caller is still there or not.
 */
import { type FollowUp, newSessionName, type SessionInfo, type SessionService, type StoredMessage } from "@svc/agent";
import type { TurnRequest, TurnResult, TurnRunner } from "@svc/agent";
import { type ClientId, type Json, type Logger, SvcError } from "@svc/contract";
import { authorOf } from "../auth/principal.ts";
import { jsonReply, Reply } from "../http/reply.ts";
import { proceduresIdentity } from "../identity.ts";
import type { RunningTurns } from "../running-turns.ts";
import type { GatewayDeps, GatewaySettings } from "../types.ts";
import { claimOf } from "../webhook/claim.ts";
import { idempotencyKey } from "../webhook/request-headers.ts";
import { DUPLICATE } from "../webhook/route.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { type BodyLimits, jsonBody } from "./body.ts";
import * as spec from "./session-turn-specs.ts";

export interface SessionTurnDeps {
  readonly sessions: SessionService;
  readonly turns: TurnRunner;
  readonly running: RunningTurns;
  readonly inbox: Pick<GatewayDeps["inbox"], "replyByHand">;
  readonly store: { readonly idempotency: Pick<GatewayDeps["store"]["idempotency"], "claim"> };
  /** Those in force. */
  readonly settings: () => Pick<GatewaySettings, "webhook">;
  readonly bodies: BodyLimits;
  readonly log: Logger;
}

/** `find`: throws SESSION_UNKNOWN. */
export function sessionTurnRoutes(deps: SessionTurnDeps, find: (request: ApiRequest) => SessionInfo): ApiRoute[] {
  const turns = new SessionTurns(deps, find);
  const follow = (how: FollowUp) => (request: ApiRequest) => turns.followUp(request, how);
  return [
    { ...spec.BEGIN, handle: (request) => turns.begin(request) },
    { ...spec.SEND, handle: (request) => turns.send(request) },
    { ...spec.RETRY, handle: follow("retry") },
    { ...spec.EDIT, handle: follow("edit") },
    { ...spec.CONTINUE, handle: follow("continue") },
    { ...spec.REPLY, handle: (request) => turns.reply(request) },
  ];
}

export const isOfProcedure = ({ clientId }: Pick<SessionInfo, "clientId">): boolean =>
  clientId === proceduresIdentity();

type Asked = Pick<TurnRequest, "session" | "text" | "files" | "after" | "agent"> & { readonly owner: ClientId };

type Sent = Pick<TurnRequest, "text" | "files" | "session">;

class SessionTurns {
  readonly #deps: SessionTurnDeps;
  readonly #find: (request: ApiRequest) => SessionInfo;

  constructor(deps: SessionTurnDeps, find: (request: ApiRequest) => SessionInfo) {
    this.#deps = deps;
    this.#find = find;
  }

  async begin(request: ApiRequest): Promise<Reply> {
    const sent = await this.#sent(request, spec.BEGIN_BODY);
    if (sent instanceof Reply) return sent;
    const { session = newSessionName(), ...message } = sent;
    return this.#run(request, { ...message, owner: request.device.clientId, session });
  }

  async send(request: ApiRequest): Promise<Reply> {
    const { clientId: owner, name: session, id } = this.#continuable(request);
    const sent = await this.#sent(request, spec.SEND_BODY);
    if (sent instanceof Reply) return sent;
    const agent = this.#deps.sessions.agentOf(id);
    return this.#run(request, { ...sent, owner, session, ...(agent !== undefined && { agent }) });
  }

  async followUp(request: ApiRequest, how: FollowUp): Promise<Reply> {
    const { clientId: owner, name: session } = this.#continuable(request);
    const sent = how === "edit" ? await this.#sent(request, spec.SEND_BODY) : { text: "" };
    if (sent instanceof Reply) return sent;
    return this.#run(request, { ...sent, owner, session, after: { turnId: request.params["turn"] ?? "", how } });
  }

  async reply(request: ApiRequest): Promise<Reply> {
    const info = this.#find(request);
    if (!info.channel || isPutAside(info)) {
      throw new SvcError("SESSION_KIND", info.channel ? PUT_ASIDE : undefined, { hint: "Send it as a message." });
    }
    const body = await jsonBody(request, spec.MESSAGE_BODY, this.#deps.bodies);
    if (body instanceof Reply) return body;
    const { message: text } = body as { readonly message: string };
    const { device } = request;
    const about = { owner: info.clientId, conversation: info.channel, author: authorOf(device), by: device.name };
    const { turnId, deliveries } = await this.#deps.inbox.replyByHand({ ...about, text });
    return jsonReply(202, { turn_id: turnId, messages: deliveries.map(({ n }) => `out-${n}`) });
  }

  async #sent(request: ApiRequest, schema: typeof spec.SEND_BODY | typeof spec.BEGIN_BODY): Promise<Sent | Reply> {
    const body = await jsonBody(request, schema, this.#deps.bodies);
    if (body instanceof Reply) return body;
    const { message: text = "", files = [], session_id: session } = (body ?? {}) as spec.SentBody;
    if (text.trim() === "" && files.length === 0) {
      throw new SvcError("BAD_REQUEST", "The message is blank and no file comes with it.");
    }
    return { text, ...(files.length > 0 && { files }), ...(session !== undefined && { session }) };
  }

  /** Throws SESSION_UNKNOWN, SESSION_KIND. */
  #continuable(request: ApiRequest): SessionInfo {
    const info = this.#find(request);
    if (info.channel) {
      throw new SvcError("SESSION_KIND", "People on a channel write in this conversation.", {
        hint: "Answer them by hand: POST /api/sessions/{id}/reply",
      });
    }
    if (isOfProcedure(info)) throw new SvcError("SESSION_KIND", "A procedure has this conversation.");
    return info;
  }

  async #run(request: ApiRequest, asked: Asked): Promise<Reply> {
    const { device, env } = request;
    const key = idempotencyKey(env.incoming.headers["x-idempotency-key"]);
    if (key instanceof Reply) return key;
    const claim = claimOf(device.clientId, key, undefined);
    if (claim && this.#deps.store.idempotency.claim(claim) === "duplicate") return jsonReply(200, DUPLICATE);
    const { running, turns, settings, log } = this.#deps;
    const { agent } = settings().webhook;
    const { promise: stored, resolve: onStored } = Promise.withResolvers<StoredMessage>();
    const turn = {
      ...(agent !== undefined && { agent }),
      ...asked,
      clientId: device.clientId,
      author: authorOf(device),
      // What a person allows for a conversation must not hold for the program that it belongs to.
      ...(asked.owner === device.clientId && { sender: "" }),
      takesCommands: true,
      inPieces: true,
      onStored,
      ...(claim && { claim }),
    } as const;
    // From here on the claim is the turn's.
    const ended = running.track((signal) => turns.run({ ...turn, signal }), device.id);
    ended.catch((error: unknown) => {
      log.warn("a turn of a conversation failed", { cause: error instanceof Error ? error.message : "unknown" });
    });
    const first = await Promise.race([stored, ended]);
    return "conversationId" in first ? jsonReply(202, storedJson(first)) : jsonReply(200, commandJson(first));
  }
}

/** By `/new`: its people go on in another one. */
const isPutAside = ({ name }: SessionInfo): boolean => !name.endsWith("]");
const PUT_ASIDE = "This conversation was ended with /new; its people go on in a newer one.";

const storedJson = ({ conversationId, sessionId, turnId, waits }: StoredMessage): Json => ({
  id: conversationId,
  session_id: sessionId,
  turn_id: turnId,
  state: waits ? "waiting" : "running",
});

const commandJson = ({ sessionId, turnId, response }: TurnResult): Json => ({
  session_id: sessionId,
  turn_id: turnId,
  response,
});
