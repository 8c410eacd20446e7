/**
 * `POST /webhook`, apart from the bytes on the wire. The order of checks is part of the interface:
 *
 *   admit   limit 429 → bearer 401 → X-Webhook-Secret 401 → content type 415
 *   (the caller reads the body: size 413)
 *   accept  signature 401 → UTF-8, JSON, shape 400 → session and idempotency headers 400 → idempotency → turn
 *
 * The signature stands where it does because it covers the body, and nothing of an unsigned body is to be parsed.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { ClientId, Clock, Logger } from "@svc/contract";
import type { TurnRunner } from "@svc/agent";
import type { CoreConfig } from "@svc/kernel";
import type { IdempotencyClaim } from "@svc/store";
import type { Authenticator } from "../auth/authenticator.ts";
import { refuseContentType } from "../http/json.ts";
import { errorReply, jsonReply, Reply, replyToError } from "../http/reply.ts";
import { SlidingWindow } from "../limits/sliding-window.ts";
import type { Client, ClientResolver } from "../net/client.ts";
import type { Peer } from "../net/peer.ts";
import type { RunningTurns } from "../running-turns.ts";
import type { GatewayStore } from "../types.ts";
import { anonymousCallers, type AnonymousCallers } from "./anonymous.ts";
import { messageOf } from "./message.ts";
import { idempotencyKey, sessionId } from "./request-headers.ts";
import { secretCheck, type SecretCheck } from "./secret.ts";
import { REMEMBER_MS, SignatureCheck } from "./signature.ts";

/** Whom a turn runs for. */
export interface Caller {
  /** Keys tool state: the device's, or the connection's for a caller without a token. */
  readonly clientId: ClientId;
  /** Keys sessions and idempotency: the device's, or the namespace that callers without a token share. */
  readonly owner: ClientId;
}

export interface WebhookDeps {
  readonly config: CoreConfig["gateway"];
  readonly webhook: CoreConfig["channels_config.webhook"];
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  readonly idempotency: GatewayStore["idempotency"];
  readonly turns: TurnRunner;
  readonly running: RunningTurns;
  readonly clock: Clock;
  readonly log: Logger;
}

const DUPLICATE = jsonReply(200, {
  status: "duplicate",
  idempotent: true,
  message: "This request was already processed for this idempotency key.",
});

export class WebhookIngress {
  readonly #deps: WebhookDeps;
  readonly #limit: SlidingWindow;
  readonly #anonymous: AnonymousCallers | undefined;
  readonly #hasSecret: SecretCheck | undefined;
  readonly #signature: SignatureCheck | undefined;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#limit = new SlidingWindow({
      limit: deps.config.webhook_rate_limit_per_minute,
      windowMs: 60_000,
      maxKeys: deps.config.rate_limit_max_keys,
    });
    this.#hasSecret = secretCheck(deps.webhook.secret);
    const signingSecret = deps.webhook.signing_secret?.trim() ?? "";
    this.#signature = signingSecret === "" ? undefined : new SignatureCheck(signingSecret);
    const isSecured = this.#hasSecret !== undefined || this.#signature !== undefined;
    this.#anonymous = deps.config.require_pairing ? undefined : anonymousCallers(deps.config, isSecured, deps.log);
  }

  /** Everything that is decided before the body is read. */
  admit(headers: IncomingHttpHeaders, peer: Peer): Caller | Reply {
    const { clock, clientOf } = this.#deps;
    const client = clientOf(headers, peer);
    const waitMs = this.#limit.take(client.limiterKey, clock.monotonic());
    if (waitMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
    const caller = this.#callerOf(headers, peer, client);
    if (caller instanceof Reply) return caller;
    if (this.#hasSecret && !this.#hasSecret(headers["x-webhook-secret"])) return errorReply("BAD_WEBHOOK_SECRET");
    return refuseContentType(headers) ?? caller;
  }

  /** Runs the turn of an admitted request. Never rejects. */
  async accept(caller: Caller, headers: IncomingHttpHeaders, body: Buffer): Promise<Reply> {
    const signed = this.#signature?.take(headers, body, this.#deps.clock.now());
    if (this.#signature && signed === undefined) return errorReply("BAD_SIGNATURE");
    const reply = await this.#answer(caller, headers, body, signed);
    // A webhook-id counts as used only by a request that was answered 200, else the sender's retry would be refused.
    if (signed !== undefined && reply.status !== 200) this.#signature?.forget(signed);
    return reply;
  }

  #callerOf(headers: IncomingHttpHeaders, peer: Peer, client: Client): Caller | Reply {
    const { authenticator } = this.#deps;
    const { authorization } = headers;
    if (this.#anonymous && authenticator.identify(authorization) === undefined) return this.#anonymous(headers, peer);
    const device = authenticator.require(authorization, client, "webhook");
    return device instanceof Reply ? device : { clientId: device.clientId, owner: device.clientId };
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
      return await this.#turn(caller, text, session, claimOf(caller.owner, key, signed));
    } catch (error) {
      const reply = replyToError(error);
      this.#deps.log.warn("a turn from /webhook failed", {
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
    const { idempotency, running, turns } = this.#deps;
    if (claim && idempotency.claim(claim) === "duplicate") return DUPLICATE;
    const result = await running.track((signal) =>
      // From here on the claim is the turn's: it alone knows whether anything acted, so it alone may release it.
      turns.run({ ...caller, text, signal, ...(session !== undefined && { session }), ...(claim && { claim }) }),
    );
    return jsonReply(200, { response: result.response, model: result.model, session_id: result.sessionId });
  }
}

/**
 * The signed id is a key too, beside the sender's own: it outlives a restart, which the seen ids do not, and the
 * sender's own key is not signed, so that whoever replays a request can change it. It is kept as long as its timestamp
 * can be fresh, or a short window would let the request in again.
 */
function claimOf(scope: ClientId, key: string | undefined, signed: string | undefined): IdempotencyClaim | undefined {
  if (signed === undefined) return key === undefined ? undefined : { scope, key };
  const id = `webhook-id:${signed}`;
  const minTtlMs = REMEMBER_MS;
  return key === undefined ? { scope, key: id, minTtlMs } : { scope, key, also: id, minTtlMs };
}
