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
import type { Device, IdempotencyClaim } from "@svc/store";
import type { Authenticator } from "../auth/authenticator.ts";
import { refuseContentType } from "../http/json.ts";
import { errorReply, jsonReply, Reply, replyToError } from "../http/reply.ts";
import type { SlidingWindow } from "../limits/sliding-window.ts";
import type { Client, ClientResolver } from "../net/client.ts";
import type { Peer } from "../net/peer.ts";
import type { RunningTurns } from "../running-turns.ts";
import type { GatewayStore } from "../types.ts";
import { anonymousCallers, type AnonymousCallers, openWebhookWarning } from "./anonymous.ts";
import { messageOf } from "./message.ts";
import { DUPLICATE } from "./route.ts";
import { idempotencyKey, sessionId } from "./request-headers.ts";
import type { SeenIds } from "./seen-ids.ts";
import { secretCheck, type SecretCheck } from "./secret.ts";
import { REMEMBER_MS, SignatureCheck } from "./signature.ts";

/** Whom a turn runs for. */
export interface Caller {
  /** Keys tool state: the device's, or the connection's for a caller without a token. */
  readonly clientId: ClientId;
  /** Keys sessions and idempotency: the device's, or the namespace that callers without a token share. */
  readonly owner: ClientId;
  /** Its device, if it proved one: what it has going on ends when the device is revoked. */
  readonly device?: Device;
}

export interface WebhookDeps {
  readonly config: CoreConfig["gateway"];
  readonly webhook: CoreConfig["channels_config.webhook"];
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  /** Of `webhook_rate_limit_per_minute`; it outlives a reload, as the next one does. */
  readonly limit: SlidingWindow;
  readonly seenIds: SeenIds;
  readonly idempotency: GatewayStore["idempotency"];
  readonly turns: TurnRunner;
  readonly running: RunningTurns;
  readonly clock: Clock;
  readonly log: Logger;
}

const DUPLICATE_REPLY = jsonReply(200, DUPLICATE);

export class WebhookIngress {
  readonly #deps: WebhookDeps;
  readonly #anonymous: AnonymousCallers | undefined;
  readonly #hasSecret: SecretCheck | undefined;
  readonly #signature: SignatureCheck | undefined;
  /** That nothing secures it. */
  readonly warning: string | undefined;

  /** Throws CONFIG_INVALID. */
  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#hasSecret = secretCheck(deps.webhook.secret);
    const signingSecret = deps.webhook.signing_secret?.trim() ?? "";
    this.#signature = signingSecret === "" ? undefined : new SignatureCheck(signingSecret, deps.seenIds);
    const isSecured = this.#hasSecret !== undefined || this.#signature !== undefined;
    this.#anonymous = deps.config.require_pairing ? undefined : anonymousCallers(deps.config, isSecured);
    this.warning = this.#anonymous && !isSecured ? openWebhookWarning(deps.config) : undefined;
  }

  /** Everything that is decided before the body is read. */
  admit(headers: IncomingHttpHeaders, peer: Peer): Caller | Reply {
    const { clock, clientOf, limit } = this.#deps;
    const client = clientOf(headers, peer);
    const waitMs = limit.take(client.limiterKey, clock.monotonic());
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
    return device instanceof Reply ? device : { clientId: device.clientId, owner: device.clientId, device };
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
    const { idempotency, running, turns, webhook } = this.#deps;
    const { clientId, owner, device } = caller;
    if (claim && idempotency.claim(claim) === "duplicate") return DUPLICATE_REPLY;
    const request = {
      clientId,
      owner,
      text,
      ...(session !== undefined && { session }),
      // From here on the claim is the turn's: it alone knows whether anything acted, so it alone may release it.
      ...(claim && { claim }),
      ...(webhook.agent !== undefined && { agent: webhook.agent }),
    };
    const result = await running.track((signal) => turns.run({ ...request, signal }), device?.id);
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
