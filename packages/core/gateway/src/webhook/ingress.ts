/**
 * `POST /webhook`, apart from the bytes on the wire. The order of checks is part of the interface:
 *
 *   admit   limit 429 → bearer 401 → X-Webhook-Secret 401 → content type 415
 *   (the caller reads the body: size 413)
 *   accept  signature 401 → UTF-8, JSON, shape 400 → session and idempotency headers 400 → idempotency → turn, now or later
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "@svc/contract";
import type { TurnRunner } from "@svc/agent";
import type { CoreConfig } from "@svc/kernel";
import type { IdempotencyClaim } from "@svc/store";
import { authorOf } from "../auth/principal.ts";
import { jsonReply, Reply, replyToError } from "../http/reply.ts";
import type { SlidingWindow } from "../limits/sliding-window.ts";
import type { Peer } from "../net/peer.ts";
import type { RunningTurns } from "../running-turns.ts";
import type { RequestEvents } from "../sop-paths/request-events.ts";
import type { GatewayStore } from "../types.ts";
import { claimOf } from "./claim.ts";
import { LaterReplies, type LaterDeps } from "./later.ts";
import type { Caller, WebhookLayers } from "./layers.ts";
import { messageOf } from "./message.ts";
import { prefersLater } from "./prefer.ts";
import { DUPLICATE, WEBHOOK } from "./route.ts";
import { idempotencyKey, sessionId } from "./request-headers.ts";

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
