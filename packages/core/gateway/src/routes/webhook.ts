/** `POST /webhook`: who may call it, and one turn, answered at once or, with `Prefer: respond-async`, posted to a URL. */
import type { IncomingHttpHeaders } from "node:http";
import { type CancelSignal, type TurnResult, type TurnRunner, newSessionName, sessionMessageOf } from "@svc/agent";
import { Duplicate, SessionId, WebhookAccepted, WebhookAnswer, WebhookHeaders, WebhookMessage } from "@svc/api";
import type { Messaging } from "@svc/messaging";
import { type ClientId, type Clock, type Logger, SvcError, trimOf } from "@svc/contract";
import type { CoreConfig, HashedSecret } from "@svc/config";
import { WEBHOOK_TOLERANCE_SECS, parseJson, replaceQuoted, verifyWebhook, webhookKeyOf } from "@svc/kit";
import type { Sops } from "@svc/sop";
import type { Arrived, IdempotencyClaim, KeptMessage } from "@svc/store";
import * as v from "valibot";
import { type Authenticator, authorOf, tokenOnly } from "../auth/authenticator.ts";
import { Reply, errorReply, replyToError } from "../http/reply.ts";
import type { Caller, Check, Exchange, IdempotencyStore, RunningTurns } from "../pipeline.ts";
import { type RouteSpec, respond } from "./route.ts";
import { hash, timingSafeEqual } from "node:crypto";
import { ANONYMOUS } from "../identity.ts";
import { type Peer, hasForwardingHeader } from "../client.ts";

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
  /** `RequestEvents`: starts the procedures of a path. */
  readonly events: {
    start(path: string, body: Buffer, caller: Caller, claim: IdempotencyClaim | undefined): Promise<unknown>;
  };
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
    const run = (signal: CancelSignal): Promise<TurnResult> =>
      turns.run({
        clientId,
        owner,
        text,
        author: device ? authorOf(device) : ANONYMOUS_AUTHOR,
        signal,
        ...(device && { sender: "" }),
        ...(session !== undefined && { session }),
        // From here on the claim is the turn's: it alone knows whether anything acted, so it alone may release it.
        ...(claim && { claim }),
        ...(agent !== undefined && { agent }),
      });
    const result = await running.track(run, device?.id);
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
      const arrived = await inbox.accept({ channel: CHANNEL, messages: [message] }, (_arrival, stored) => {
        if (claim) idempotency.keep(claim, firstOf(stored).turnId, "done");
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

/** Whether a request may start a turn or a procedure: its token, the webhook secret, its signature, and that it was not seen before. */
interface AdmissionDeps {
  readonly config: CoreConfig["gateway"];
  readonly webhook: CoreConfig["channels_config.webhook"];
  readonly authenticator: Authenticator;
  readonly seenIds: SeenIds;
  readonly clock: Clock;
  readonly onClientGone: (clientId: ClientId) => void;
}

export class WebhookAdmission {
  readonly #deps: AdmissionDeps;
  readonly #anonymous: AnonymousCallers | undefined;
  readonly #hasSecret: SecretCheck | undefined;
  readonly #signature: SignatureCheck | undefined;
  /** That nothing secures them. */
  readonly warning: string | undefined;

  /** Throws CONFIG_INVALID. */
  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
    this.#hasSecret = secretCheck(deps.webhook.secret);
    const signingSecret = deps.webhook.signing_secret?.trim() ?? "";
    this.#signature = signingSecret === "" ? undefined : new SignatureCheck(signingSecret, deps.seenIds);
    const isSecured = this.#hasSecret !== undefined || this.#signature !== undefined;
    const { config, onClientGone } = deps;
    this.#anonymous = config.require_pairing ? undefined : anonymousCallers(config, isSecured, onClientGone);
    this.warning = this.#anonymous && !isSecured ? openWebhookWarning(deps.config) : undefined;
  }

  /** 401, 403: finds the device of a token; `require_pairing = false` admits callers without one. */
  readonly caller: Check = (exchange) => {
    const { headers } = exchange.incoming;
    const caller = this.#callerOf(headers, exchange);
    if (caller instanceof Reply) return caller;
    exchange.caller = caller;
    return undefined;
  };

  /** 401: `X-Webhook-Secret`, where one is configured. */
  readonly secret: Check = ({ incoming }) =>
    this.#hasSecret && !this.#hasSecret(incoming.headers["x-webhook-secret"])
      ? errorReply("BAD_WEBHOOK_SECRET")
      : undefined;

  /** 401: the signature, where one is demanded. It covers the body: nothing of an unsigned body is parsed. */
  readonly signature: Check = (exchange) => {
    if (this.#signature === undefined) return undefined;
    exchange.signedId = this.#signature.take(exchange.incoming.headers, exchange.body, this.#deps.clock.now());
    return exchange.signedId === undefined ? errorReply("BAD_SIGNATURE") : undefined;
  };

  /** A webhook-id counts as used only by a request that was taken, else the sender's retry would be refused. */
  readonly settled = ({ signedId }: Exchange, { status }: Reply): void => {
    if (signedId !== undefined && status >= 300) this.#signature?.forget(signedId);
  };

  #callerOf(headers: IncomingHttpHeaders, { peer, client }: Exchange): Caller | Reply {
    const { authenticator } = this.#deps;
    const { authorization } = headers;
    if (this.#anonymous && authenticator.deviceOf(authorization) === undefined) return this.#anonymous(headers, peer);
    const caller = authenticator.require(tokenOnly(headers), client, "webhook");
    if (caller instanceof Reply) return caller;
    const { device } = caller;
    return { clientId: device.clientId, owner: device.clientId, device };
  }
}

// `gateway.require_pairing = false`: callers of `/webhook` without a token, and when even they are refused.

type AnonymousCallers = (headers: IncomingHttpHeaders, peer: Peer) => Caller | Reply;

/**
 * `isSecured`: a webhook secret or signing secret is configured, so a caller has something to prove after all. `onGone`: told of
 * each whose connection is closed.
 */
function anonymousCallers(
  config: CoreConfig["gateway"],
  isSecured: boolean,
  onGone: (clientId: ClientId) => void,
): AnonymousCallers {
  return (headers, peer) => {
    if (!isSecured && config.require_signatures) return errorReply("BAD_WEBHOOK_SECRET");
    // Bound to loopback, yet this came through a proxy: the proxy would lend its place to the whole world.
    if (!isSecured && hasForwardingHeader(headers)) return errorReply("UNAUTHORIZED");
    return { clientId: peer.clientIdUntil(onGone), owner: ANONYMOUS };
  };
}

/** What to say about a `/webhook` that nothing secures. */
const openWebhookWarning = (config: CoreConfig["gateway"]): string =>
  config.require_signatures
    ? "POST /webhook answers 401: pairing is off, no webhook secret is set and gateway.require_signatures is on"
    : "POST /webhook takes messages from every program on this machine: pairing is off and no webhook secret is set";

// The `X-Webhook-Secret` check. Of the configured secret nothing but its SHA-256 is in memory.

type SecretCheck = (header: string | string[] | undefined) => boolean;

/** Undefined when no secret is configured. */
export const secretCheck = (configured: HashedSecret | undefined): SecretCheck | undefined =>
  configured && secretCheckOfHash(Buffer.from(configured.sha256, "hex"));

/** The same for a SHA-256 that is known already (32 bytes). */
export function secretCheckOfHash(expected: Buffer): SecretCheck {
  return (header) => {
    if (typeof header !== "string") return false;
    const presented = trimBlanks(header);
    // Node hands header bytes over as latin1; back as bytes they are what the client sent, UTF-8 included.
    return presented !== "" && timingSafeEqual(hash("sha256", Buffer.from(presented, "latin1"), "buffer"), expected);
  };
}

/** Not `trim()`: it would also take a 0xA0 byte off the end of a UTF-8 sequence. */
const trimBlanks = (text: string): string => trimOf(text, " \t");

// The Standard Webhooks signature that `POST /webhook` demands where a `signing_secret` is set.

export class SignatureCheck {
  readonly #key: Buffer;
  readonly #seen: SeenIds;

  /** Throws CONFIG_INVALID. */
  constructor(secret: string, seen: SeenIds) {
    this.#key = webhookKeyOf(secret);
    this.#seen = seen;
  }

  /**
   * The webhook-id when everything is valid, fresh and seen for the first time; it is remembered from now on. Undefined
   * otherwise, so that the answer does not reveal which check failed.
   */
  take(headers: IncomingHttpHeaders, body: Buffer, nowMs: number): string | undefined {
    const id = headers["webhook-id"];
    const timestamp = headers["webhook-timestamp"];
    const signatures = headers["webhook-signature"];
    if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return undefined;
    if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) return undefined;
    if (Math.abs(nowMs / 1000 - Number(timestamp)) > WEBHOOK_TOLERANCE_SECS) return undefined;
    if (!verifyWebhook(this.#key, { id, timestamp, body }, signatures)) return undefined;
    return this.#seen.add(id, nowMs) ? id : undefined;
  }

  /** Forgets an id whose request was not answered 200, so that the sender's retry is heard. */
  forget(id: string): void {
    this.#seen.delete(id);
  }
}

// The webhook-ids of signed requests. They outlive a reload: a changed key must not let an old request in again.

const MAX_REMEMBERED = 100_000;

export class SeenIds {
  readonly #rememberMs: number;
  /** With the time they were seen, oldest first. */
  readonly #seen = new Map<string, number>();

  constructor(rememberMs: number) {
    this.#rememberMs = rememberMs;
  }

  /** False when the id was seen already; it is remembered from now on. */
  add(id: string, nowMs: number): boolean {
    for (const [old, at] of this.#seen) {
      if (nowMs - at <= this.#rememberMs && this.#seen.size < MAX_REMEMBERED) break;
      this.#seen.delete(old);
    }
    if (this.#seen.has(id)) return false;
    this.#seen.set(id, nowMs);
    return true;
  }

  delete(id: string): void {
    this.#seen.delete(id);
  }

  get size(): number {
    return this.#seen.size;
  }
}
