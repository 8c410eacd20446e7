/** The body of `POST /webhook`: `{"message": string}`, other fields ignored. */
import type { IncomingHttpHeaders } from "node:http";
import { newSessionName, sessionMessageOf, type TurnRunner } from "@svc/agent";
import { type Logger, SvcError } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";
import { parseJson, replaceQuoted } from "@svc/kit";
import type { Arrived, IdempotencyClaim, KeptMessage } from "@svc/store";
import * as v from "valibot";
import { authorOf } from "../auth/authenticator.ts";
import { errorReply, jsonReply, Reply, replyToError } from "../http/reply.ts";
import type { Peer } from "../middleware/client.ts";
import type { Caller, WebhookLayers } from "../middleware/webhook-admission.ts";
import type { SlidingWindow } from "../rate-limit.ts";
import type { RunningTurns } from "../running-turns.ts";
import type { RequestEvents } from "../sop-events.ts";
import type { GatewayDeps, GatewayStore } from "../types.ts";
import { claimOf } from "../webhook/claim.ts";
import type { RouteSpec } from "./route.ts";

export const MESSAGE = v.object({
  message: v.pipe(v.string(), v.regex(/\S/), v.description("What the agent is told; not blank.")),
});

/** The message, or 400: BAD_JSON for what is no UTF-8 JSON, BAD_BODY for any other shape and for a blank message. */
export function messageOf(body: Buffer): string | Reply {
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  // Costs 50 ns (bench/README.md measures 50 µs for the whole request): no reason for a second, faster check beside it.
  return v.is(MESSAGE, value) ? value.message : errorReply("BAD_BODY");
}

// The two optional headers of `POST /webhook` that say what a message belongs to.

type HeaderValue = IncomingHttpHeaders[string];

export const SESSION_ID = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9._-]{1,128}$/),
  v.description("Name of the conversation to go on with. Without it the message begins one of its own."),
);
export const IDEMPOTENCY_KEY = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,256}$/),
  v.description("A second request with the same key is answered as a duplicate, and no turn runs."),
);

/** `X-Session-Id`. Undefined when it was not sent. */
export function sessionId(value: HeaderValue): string | undefined | Reply {
  return value === undefined || v.is(SESSION_ID, value) ? value : errorReply("BAD_SESSION_ID");
}

/** `X-Idempotency-Key`. Undefined when it was not sent. */
export function idempotencyKey(value: HeaderValue): string | undefined | Reply {
  return value === undefined || v.is(IDEMPOTENCY_KEY, value) ? value : errorReply("BAD_IDEMPOTENCY_KEY");
}

// `POST /webhook` as data.

/** The answer to a request whose idempotency key, or whose webhook-id, was seen before. */
export const DUPLICATE = {
  status: "duplicate",
  idempotent: true,
  message: "This request was already processed for this idempotency key.",
} as const;

const ANSWERED = v.object({
  response: v.pipe(v.string(), v.description("What the agent answered.")),
  model: v.pipe(v.string(), v.description("The model that did.")),
  session_id: v.pipe(v.string(), v.description("Goes on with this conversation when sent as X-Session-Id.")),
});

const WAS_ANSWERED = v.object({
  status: v.literal(DUPLICATE.status),
  idempotent: v.literal(DUPLICATE.idempotent),
  message: v.literal(DUPLICATE.message),
});

const ACCEPTED = v.object({
  status: v.literal("accepted"),
  session_id: v.pipe(
    v.string(),
    v.description("The conversation of what is posted; goes on when sent as X-Session-Id."),
  ),
  message_id: v.pipe(v.string(), v.description("As svc inbox show takes it.")),
});

const described = (text: string) => v.optional(v.pipe(v.string(), v.description(text)));

export const WEBHOOK: RouteSpec = {
  method: "POST",
  path: "/webhook",
  access: "webhook",
  summary: "Runs one turn of the agent and answers with its reply.",
  details:
    "The bearer is not needed while gateway.require_pairing is false. Whoever is answered 429 or 503 may send the same request again; with an idempotency key, after any failure.",
  headers: {
    Prefer: described(
      "respond-async (RFC 7240): do not wait. It counts where channels_config.webhook.url is set, to which the answer is posted then.",
    ),
    "X-Session-Id": v.optional(SESSION_ID),
    "X-Idempotency-Key": v.optional(IDEMPOTENCY_KEY),
    "X-Webhook-Secret": described("Needed when channels_config.webhook.secret is set."),
    "webhook-id": described("With the next two, a Standard Webhooks signature: needed when a signing_secret is set."),
    "webhook-timestamp": described("Unix seconds, at most 300 off."),
    "webhook-signature": described(
      "v1, and the base64 of HMAC-SHA256 over id.timestamp.body; several with blanks between.",
    ),
  },
  body: MESSAGE,
  answers: {
    200: {
      description: "The agent's answer, or that this request was a duplicate.",
      body: v.union([ANSWERED, WAS_ANSWERED]),
    },
    202: {
      description: "The message is kept, and its answer will be posted, over restarts too.",
      body: ACCEPTED,
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
};

// `POST /webhook`, apart from the bytes on the wire. The order of checks is part of the interface:
//
//   admit   limit 429 → bearer 401 → X-Webhook-Secret 401 → content type 415
//   (the caller reads the body: size 413)
//   accept  signature 401 → UTF-8, JSON, shape 400 → session and idempotency headers 400 → idempotency → turn, now or later

export interface WebhookDeps {
  readonly layers: WebhookLayers;
  /** Of `webhook_rate_limit_per_minute`; it outlives a reload. */
  readonly limit: SlidingWindow;
  /** Name of the agent that answers, if not the default one. */
  readonly agent: CoreConfig["channels_config.webhook"]["agent"];
  readonly idempotency: GatewayStore["idempotency"];
  readonly inbox: LaterDeps["inbox"];
  /** Of a channel. */
  readonly isChannelUp: LaterDeps["isUp"];
  readonly events: RequestEvents;
  readonly turns: TurnRunner;
  readonly running: RunningTurns;
  readonly log: Logger;
}

const ANONYMOUS_AUTHOR = { kind: "anonymous" } as const;

export const DUPLICATE_REPLY = jsonReply(200, DUPLICATE);

export class WebhookIngress {
  readonly #deps: WebhookDeps;
  readonly #later: LaterReplies;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#later = new LaterReplies({ ...deps, isUp: deps.isChannelUp });
  }

  /** Everything that is decided before the body is read. */
  admit(headers: IncomingHttpHeaders, peer: Peer): Caller | Reply {
    return this.#deps.layers.admit(headers, peer, this.#deps.limit);
  }

  /** Runs the turn of an admitted request. Never rejects. */
  accept(caller: Caller, headers: IncomingHttpHeaders, body: Buffer): Promise<Reply> {
    return this.#deps.layers.proven(headers, body, (signed) => this.#answer(caller, headers, body, signed));
  }

  async #answer(
    caller: Caller,
    headers: IncomingHttpHeaders,
    body: Buffer,
    signed: string | undefined,
  ): Promise<Reply> {
    const text = messageOf(body);
    if (text instanceof Reply) return text;
    const session = sessionId(headers["x-session-id"]);
    if (session instanceof Reply) return session;
    const key = idempotencyKey(headers["x-idempotency-key"]);
    if (key instanceof Reply) return key;
    try {
      const claim = claimOf(caller.owner, key, signed);
      if (claim && this.#deps.idempotency.claim(claim) === "duplicate") return DUPLICATE_REPLY;
      void this.#deps.events.beside(WEBHOOK.path, body, caller, claim);
      if (!prefersLater(headers) || !this.#later.isPossible) return await this.#turn(caller, text, session, claim);
      return await this.#deps.running.track(() => this.#later.take(caller, text, session, claim));
    } catch (error) {
      const reply = replyToError(error);
      this.#deps.log.warn("a request to /webhook failed", {
        status: reply.status,
        cause: error instanceof Error ? error.message : "unknown",
      });
      return reply;
    }
  }

  async #turn(
    caller: Caller,
    text: string,
    session: string | undefined,
    claim: IdempotencyClaim | undefined,
  ): Promise<Reply> {
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
    return jsonReply(200, { response: result.response, model: result.model, session_id: result.sessionId });
  }
}

// Requests whose callers do not wait: kept in the inbox, answered 202, and the turn's answer is posted to the operator's URL by
// the channel `webhook`. The session is the one that a request that waits would have, and the caller's alone.

/** The channel by which answers go out; what it posts them to is set in the section of these very requests. */
const CHANNEL = "webhook";

export interface LaterDeps {
  readonly inbox: Pick<GatewayDeps["inbox"], "accept">;
  readonly idempotency: Pick<GatewayDeps["store"]["idempotency"], "keep" | "release">;
  readonly isUp: GatewayDeps["isChannelUp"];
}

class LaterReplies {
  readonly #deps: LaterDeps;

  constructor(deps: LaterDeps) {
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
  async take(
    { owner, device }: Caller,
    text: string,
    session: string = newSessionName(),
    claim: IdempotencyClaim | undefined,
  ): Promise<Reply> {
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
      const body = { status: "accepted", session_id: session, message_id: `in-${firstOf(arrived).n}` };
      return jsonReply(202, body, APPLIED);
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
export function prefersLater({ prefer }: IncomingHttpHeaders): boolean {
  const text = Array.isArray(prefer) ? prefer.join(",") : (prefer ?? "");
  // A comma within quotes separates nothing.
  const preferences = replaceQuoted(text, "").split(",");
  return preferences.some((preference) => /^\s*respond-async\s*(?:;|$)/i.test(preference));
}

/** Said with the answer of whoever was obeyed. */
const APPLIED = ["preference-applied", "respond-async"] as const;
