/** `POST /webhook`: one turn, answered at once or, with `Prefer: respond-async`, posted to a URL. */
import type { IncomingHttpHeaders } from "node:http";
import { newSessionName, sessionMessageOf, type TurnRunner } from "@svc/agent";
import { Duplicate, SessionId, WebhookAccepted, WebhookAnswer, WebhookHeaders, WebhookMessage } from "@svc/api";
import { type Messaging } from "@svc/messaging";
import { type Logger, SvcError } from "@svc/contract";
import type { CoreConfig } from "@svc/config";
import { parseJson, replaceQuoted } from "@svc/kit";
import type { Sops } from "@svc/sop";
import type { Arrived, IdempotencyClaim, KeptMessage } from "@svc/store";
import * as v from "valibot";
import { authorOf } from "../auth/authenticator.ts";
import { errorReply, Reply, replyToError } from "../http/reply.ts";
import type { IdempotencyStore } from "./webhook-admission.ts";
import type { Check, Exchange, RunningTurns } from "../pipeline.ts";
import type { RequestEvents } from "../sop-events.ts";
import { respond, type RouteSpec } from "./route.ts";

/** The message, or 400: BAD_JSON unless it is UTF-8 JSON, BAD_BODY for any other shape and for a blank message. */
export function messageOf(body: Buffer): string | Reply {
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  // Costs 50 ns (bench/README.md measures 50 µs for the whole request): no reason for a second, faster check beside it.
  return v.is(WebhookMessage, value) ? value.message : errorReply("BAD_BODY");
}

type HeaderValue = IncomingHttpHeaders[string];

/** `X-Session-Id`. Undefined when it was not sent. */
export function sessionId(value: HeaderValue): string | undefined | Reply {
  return value === undefined || v.is(SessionId, value) ? value : errorReply("BAD_SESSION_ID");
}

export const WEBHOOK = {
  method: "POST",
  path: "/webhook",
  access: "webhook",
  summary: "Runs one turn of the agent and answers with its reply.",
  details:
    "The bearer is not needed while gateway.require_pairing is false. After 429 or 503 a client may send the same request again; with an idempotency key, after any failure.",
  headers: WebhookHeaders,
  body: WebhookMessage,
  answers: {
    200: {
      description: "The agent's answer, or that this request was a duplicate.",
      body: v.union([WebhookAnswer, Duplicate]),
    },
    202: {
      description: "The message is kept, and its answer will be posted, over restarts too.",
      body: WebhookAccepted,
      headers: { "Preference-Applied": v.literal("respond-async") },
    },
  },
  errors: [
    "RATE_LIMITED",
    "BAD_WEBHOOK_SECRET",
    "BAD_SIGNATURE",
    "BAD_BODY",
    "BAD_SESSION_ID",
    "BAD_IDEMPOTENCY_KEY",
    "AGENT_UNKNOWN",
    "COST_LIMIT",
    "BUSY",
    "TURN_FAILED",
    "TURN_CANCELLED",
    "TURN_STEP_LIMIT",
    "TURN_TIMEOUT",
    "MODEL_REFUSED",
    "MODEL_UNREACHABLE",
    "STORE_FULL",
    "STORE_FAILED",
    "CONFIG_INVALID",
    "INTERNAL",
  ],
} satisfies RouteSpec;

export interface WebhookDeps {
  /** Name of the agent that answers, if not the default one. */
  readonly agent: CoreConfig["channels_config.webhook"]["agent"];
  readonly idempotency: IdempotencyStore;
  readonly inbox: AsyncRepliesDeps["inbox"];
  /** Whether a channel is up. */
  readonly isChannelUp: AsyncRepliesDeps["isUp"];
  readonly sops: Pick<Sops, "hasPath">;
  readonly events: RequestEvents;
  readonly turns: TurnRunner;
  readonly running: RunningTurns;
  readonly log: Logger;
}

const ANONYMOUS_AUTHOR = { kind: "anonymous" } as const;

/** The checks and the handler that are `/webhook`'s own. `app.ts` has their order. */
export class Webhook {
  readonly #deps: WebhookDeps;
  readonly #async: AsyncReplies;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#async = new AsyncReplies({ ...deps, isUp: deps.isChannelUp });
  }

  /** 400 BAD_JSON unless it is UTF-8 JSON, BAD_BODY for any other shape and for a blank message. */
  readonly message: Check = (exchange) => {
    const text = messageOf(exchange.body);
    if (text instanceof Reply) return text;
    exchange.text = text;
    return undefined;
  };

  /** 400 BAD_SESSION_ID */
  readonly session: Check = (exchange) => {
    const session = sessionId(exchange.incoming.headers["x-session-id"]);
    if (session instanceof Reply) return session;
    exchange.session = session;
    return undefined;
  };

  /** Runs the turn and answers with its result; with `Prefer: respond-async`, once the message is stored. */
  readonly answer = (exchange: Exchange): Promise<Reply> => {
    this.#startProcedures(exchange);
    if (!prefersAsync(exchange.incoming.headers) || !this.#async.isPossible) return this.#turn(exchange);
    return this.#deps.running.track(() => this.#async.take(exchange));
  };

  readonly failed = (error: unknown): Reply => {
    const reply = replyToError(error);
    this.#deps.log.warn("a request to /webhook failed", {
      status: reply.status,
      cause: error instanceof Error ? error.message : "unknown",
    });
    return reply;
  };

  /**
   * Starts the procedures of this path, if there are any; the turn does not wait for it. Never throws. The claim of the request is
   * the turn's: one that failed lets it go, and then the request that comes again must not start the runs again.
   */
  #startProcedures({ body, caller, claim }: Exchange): void {
    const { sops, events } = this.#deps;
    try {
      if (!sops.hasPath(WEBHOOK.path)) return;
      events.start(WEBHOOK.path, body, caller, claim && besideOf(claim)).catch((error) => this.#notStarted(error));
    } catch (error) {
      this.#notStarted(error);
    }
  }

  #notStarted(error: unknown): void {
    const cause = error instanceof Error ? error.message : "unknown";
    this.#deps.log.error("a request started no procedure: something unexpected went wrong", {
      path: WEBHOOK.path,
      cause,
    });
  }

  async #turn({ caller, text, session, claim }: Exchange): Promise<Reply> {
    const { agent, running, turns } = this.#deps;
    const { clientId, owner, device } = caller;
    const request = {
      clientId,
      owner,
      text,
      author: device ? authorOf(device) : ANONYMOUS_AUTHOR,
      ...(device && { sender: "" }),
      ...(session !== undefined && { session }),
      // From here on the claim is the turn's: it alone knows whether anything acted, so it alone may release it.
      ...(claim && { claim }),
      ...(agent !== undefined && { agent }),
    };
    const result = await running.track((signal) => turns.run({ ...request, signal }), device?.id);
    return respond(WEBHOOK, 200, { response: result.response, model: result.model, session_id: result.sessionId });
  }
}

/** Keys of senders have no blanks, so this key can't collide with one. */
const besideOf = ({ key, also, ...rest }: IdempotencyClaim): IdempotencyClaim => ({
  ...rest,
  key: `beside ${key}`,
  ...(also !== undefined && { also: `beside ${also}` }),
});

// Asynchronous requests: stored in the inbox and answered 202; the channel `webhook` posts the turn's answer to the
// operator's URL. The session is the same as for a synchronous request, and private to the caller.

/** The channel that posts answers; its URL is in the same section as the settings of these requests. */
const CHANNEL = "webhook";

export interface AsyncRepliesDeps {
  readonly inbox: Pick<Messaging, "accept">;
  readonly idempotency: Pick<IdempotencyStore, "keep" | "release">;
  /** Whether there is a channel of this id, and messages go out by it. */
  readonly isUp: (channel: string) => boolean;
}

class AsyncReplies {
  readonly #deps: AsyncRepliesDeps;

  constructor(deps: AsyncRepliesDeps) {
    this.#deps = deps;
  }

  /** Else there is nowhere to post an answer to, and the caller had better wait. */
  get isPossible(): boolean {
    return this.#deps.isUp(CHANNEL);
  }

  /**
   * Resolves once it is on disk, its key with it: from then on the answer comes, over restarts too. Rejects with BUSY and
   * STORE_*, and then the request may come again.
   */
  async take({ caller: { owner, device }, text, session = newSessionName(), claim }: Exchange): Promise<Reply> {
    const { inbox, idempotency } = this.#deps;
    const sender = device?.id ?? "anonymous";
    // Two callers may give their sessions one name: where their answers wait is not one place.
    const conversation = { channel: CHANNEL, id: `${session}@${sender}` };
    const message = sessionMessageOf({ owner, session, conversation, sender, text, replyData: { session } });
    try {
      const arrived = await inbox.accept({ channel: CHANNEL, messages: [message] }, (_arrival, kept) => {
        if (claim) idempotency.keep(claim, firstOf(kept).turnId, "done");
        return undefined;
      });
      const body = { status: "accepted", session_id: session, message_id: `in-${firstOf(arrived).n}` } as const;
      return respond(WEBHOOK, 202, body, APPLIED);
    } finally {
      if (claim) idempotency.release(claim);
    }
  }
}

/** It has no id that could have been seen before. */
function firstOf(arrived: Arrived): KeptMessage {
  const first = arrived.state === "kept" ? arrived.messages[0] : undefined;
  if (first === undefined || first === "duplicate") throw new SvcError("INTERNAL");
  return first;
}

// `Prefer: respond-async` (RFC 7240, section 4.1): the caller does not wait for the answer.

/** Among other preferences, in any case, with or without parameters. What can't be read is no preference. */
export function prefersAsync({ prefer }: IncomingHttpHeaders): boolean {
  if (prefer === undefined) return false;
  const text = Array.isArray(prefer) ? prefer.join(",") : prefer;
  // A comma within quotes separates nothing.
  const preferences = replaceQuoted(text, "").split(",");
  return preferences.some((preference) => /^\s*respond-async\s*(?:;|$)/i.test(preference));
}

/** Sent with the answer when the preference was applied. */
const APPLIED = ["preference-applied", "respond-async"] as const;
