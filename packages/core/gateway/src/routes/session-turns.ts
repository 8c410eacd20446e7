/**
 * Messages to conversations. A message is on disk when it is answered 202: the answer comes by the events, and stands in the
 * conversation, whether the caller is still there or not.
 */
import {
  type FollowUp,
  newSessionName,
  type SessionInfo,
  type SessionService,
  type StoredMessage,
  type TurnRequest,
  type TurnResult,
  type TurnRunner,
} from "@svc/agent";
import { type Messaging } from "@svc/messaging";
import {
  CommandAnswer,
  Duplicate,
  FirstMessage,
  MessageAccepted,
  name,
  ReplyByHand,
  ReplyByHandAccepted,
  SentMessage,
  TurnHeaders,
} from "@svc/api";
import { type ClientId, type Logger, SvcError } from "@svc/contract";
import * as v from "valibot";
import { authorOf } from "../auth/authenticator.ts";
import { Reply } from "../http/reply.ts";
import { proceduresIdentity } from "../identity.ts";
import type { RunningTurns } from "../pipeline.ts";
import type { CoreConfig } from "@svc/config";
import { claimOf, DUPLICATE_REPLY, idempotencyKey, type IdempotencyStore } from "../pipeline.ts";
import { type ApiRequest, apiRoute, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody, respond } from "./route.ts";

const answers = {
  200: {
    description: "The answer to a command such as /status, or that this request was a duplicate.",
    body: v.union([CommandAnswer, Duplicate]),
  },
  202: { description: "The message is on disk; the answer comes by the events.", body: MessageAccepted },
};

const params = { id: name("The conversation's id.") };
const turnParams = { ...params, turn: name("Id of its newest turn, which was stopped or failed.") };

const STORE = [
  "BAD_IDEMPOTENCY_KEY",
  "AGENT_UNKNOWN",
  "FILE_UNKNOWN",
  "TOOL_FAILED",
  "BUSY",
  "STORE_FULL",
  "STORE_FAILED",
] as const;
const SESSION = ["SESSION_UNKNOWN", "SESSION_KIND"] as const;
const FOLLOWED = [...SESSION, "TURN_UNKNOWN", "TURN_RUNNING", "TURN_STATE", ...STORE] as const;

const BEGIN = {
  method: "POST",
  path: "/api/sessions",
  access: "operate",
  summary: "Begins a conversation, or goes on with one of this device's by its name.",
  details:
    "The message is on disk before this is answered. Stopped and failed turns keep it, and what came of the answer.",
  headers: TurnHeaders,
  body: FirstMessage,
  answers,
  errors: STORE,
} satisfies ApiSpec;

const SEND = {
  method: "POST",
  path: "/api/sessions/{id}/messages",
  access: "operate",
  summary: "Sends a message to a conversation, also to one that another device began.",
  details: "While a turn of the conversation runs the message waits for it.",
  params,
  headers: TurnHeaders,
  body: SentMessage,
  answers,
  errors: [...SESSION, ...STORE],
} satisfies ApiSpec;

const RETRY = {
  method: "POST",
  path: "/api/sessions/{id}/turns/{turn}/retry",
  access: "operate",
  summary: "Sends the message of a stopped or failed turn once more.",
  details:
    "The new turn takes the place of the old one, which stays in the conversation for people to read. One in which a tool acted stays for the model too.",
  params: turnParams,
  headers: TurnHeaders,
  answers,
  errors: FOLLOWED,
} satisfies ApiSpec;

const EDIT = {
  method: "POST",
  path: "/api/sessions/{id}/turns/{turn}/edit",
  access: "operate",
  summary: "Sends another message in the place of that of a stopped or failed turn.",
  details: "Files of that message come with it again where their ids are among `files`.",
  params: turnParams,
  headers: TurnHeaders,
  body: SentMessage,
  answers,
  errors: FOLLOWED,
} satisfies ApiSpec;

const CONTINUE = {
  method: "POST",
  path: "/api/sessions/{id}/turns/{turn}/continue",
  access: "operate",
  summary: "Asks for the rest of an answer that was stopped or broke off.",
  params: turnParams,
  headers: TurnHeaders,
  answers,
  errors: FOLLOWED,
} satisfies ApiSpec;

const REPLY = {
  method: "POST",
  path: "/api/sessions/{id}/reply",
  access: "operate",
  summary: "Answers the people of a conversation on a channel by hand, in the place of the model.",
  details:
    "It is delivered as an answer of the model's is, and noted in the audit log. Messages that wait for an answer in the conversation have it with this one.",
  params,
  body: ReplyByHand,
  answers: {
    202: {
      description: "The reply is in the outbox.",
      body: ReplyByHandAccepted,
    },
  },
  errors: [...SESSION, "CHANNEL_UNKNOWN", "CHANNEL_CANNOT", "TURN_RUNNING", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

export const SESSION_TURN_SPECS = [BEGIN, SEND, RETRY, EDIT, CONTINUE, REPLY];

export interface SessionTurnDeps {
  readonly sessions: SessionService;
  readonly turns: TurnRunner;
  readonly running: RunningTurns;
  readonly inbox: Pick<Messaging, "replyByHand">;
  readonly store: { readonly idempotency: Pick<IdempotencyStore, "claim"> };
  /** Those in force. */
  readonly settings: () => { readonly webhook: CoreConfig["channels_config.webhook"] };
  readonly bodies: BodyLimits;
  readonly log: Logger;
}

/** `find`: throws SESSION_UNKNOWN. */
export function sessionTurnRoutes(deps: SessionTurnDeps, find: (request: ApiRequest) => SessionInfo): ApiRoute[] {
  const turns = new SessionTurns(deps, find);
  const follow = (how: FollowUp) => (request: ApiRequest) => turns.followUp(request, how);
  return [
    apiRoute(BEGIN, (request) => turns.begin(request)),
    apiRoute(SEND, (request) => turns.send(request)),
    apiRoute(RETRY, follow("retry")),
    apiRoute(EDIT, follow("edit")),
    apiRoute(CONTINUE, follow("continue")),
    apiRoute(REPLY, (request) => turns.reply(request)),
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
    const sent = await this.#sent(request, FirstMessage);
    if (sent instanceof Reply) return sent;
    const { session = newSessionName(), ...message } = sent;
    return this.#run(request, { ...message, owner: request.device.clientId, session });
  }

  async send(request: ApiRequest): Promise<Reply> {
    const { clientId: owner, name: session, id } = this.#continuable(request);
    const sent = await this.#sent(request, SentMessage);
    if (sent instanceof Reply) return sent;
    const agent = this.#deps.sessions.agentOf(id);
    return this.#run(request, { ...sent, owner, session, ...(agent !== undefined && { agent }) });
  }

  async followUp(request: ApiRequest, how: FollowUp): Promise<Reply> {
    const { clientId: owner, name: session } = this.#continuable(request);
    const sent = how === "edit" ? await this.#sent(request, SentMessage) : { text: "" };
    if (sent instanceof Reply) return sent;
    return this.#run(request, { ...sent, owner, session, after: { turnId: request.params["turn"] ?? "", how } });
  }

  async reply(request: ApiRequest): Promise<Reply> {
    const info = this.#find(request);
    if (!info.channel || isPutAside(info)) {
      throw new SvcError("SESSION_KIND", info.channel ? PUT_ASIDE : undefined, { hint: "Send it as a message." });
    }
    const body = await jsonBody(request, ReplyByHand, this.#deps.bodies);
    if (body instanceof Reply) return body;
    const { message: text } = body;
    const { device } = request;
    const about = { owner: info.clientId, conversation: info.channel, author: authorOf(device), by: device.name };
    const { turnId, deliveries } = await this.#deps.inbox.replyByHand({ ...about, text });
    return respond(REPLY, 202, { turn_id: turnId, messages: deliveries.map(({ n }) => `out-${n}`) });
  }

  async #sent(request: ApiRequest, schema: typeof SentMessage | typeof FirstMessage): Promise<Sent | Reply> {
    const body: FirstMessage | Reply = await jsonBody(request, schema, this.#deps.bodies);
    if (body instanceof Reply) return body;
    const { message: text = "", files = [], session_id: session } = body;
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
    if (claim && this.#deps.store.idempotency.claim(claim) === "duplicate") return DUPLICATE_REPLY;
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
    return "conversationId" in first ? respond(BEGIN, 202, storedJson(first)) : respond(BEGIN, 200, commandJson(first));
  }
}

/** By `/new`: its people go on in another one. */
const isPutAside = ({ name }: SessionInfo): boolean => !name.endsWith("]");
const PUT_ASIDE = "This conversation was ended with /new; its people go on in a newer one.";

const storedJson = ({ conversationId, sessionId, turnId, waits }: StoredMessage): MessageAccepted => ({
  id: conversationId,
  session_id: sessionId,
  turn_id: turnId,
  state: waits ? "waiting" : "running",
});

const commandJson = ({ sessionId, turnId, response }: TurnResult): CommandAnswer => ({
  session_id: sessionId,
  turn_id: turnId,
  response,
});
