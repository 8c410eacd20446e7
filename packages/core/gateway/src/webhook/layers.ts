/**
 * What a request has to pass before `/webhook`, or the path of a procedure, looks at what it says:
 *
 *   admit    limit 429 → bearer 401 → X-Webhook-Secret 401 → content type 415
 *   (the caller reads the body: size 413)
 *   proven   signature 401
 *
 * The signature stands where it does because it covers the body, and nothing of an unsigned body is to be parsed.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { ClientId, Clock } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";
import type { Device } from "@svc/store";
import type { Authenticator } from "../auth/authenticator.ts";
import { tokenOnly } from "../auth/credentials.ts";
import { refuseContentType } from "../http/json.ts";
import { errorReply, Reply } from "../http/reply.ts";
import type { SlidingWindow } from "../limits/sliding-window.ts";
import type { Client, ClientResolver } from "../net/client.ts";
import type { Peer } from "../net/peer.ts";
import { anonymousCallers, type AnonymousCallers, openWebhookWarning } from "./anonymous.ts";
import type { SeenIds } from "./seen-ids.ts";
import { secretCheck, type SecretCheck } from "./secret.ts";
import { SignatureCheck } from "./signature.ts";

/** Whom a turn or a run is started for. */
export interface Caller {
  /** Keys tool state: the device's, or the connection's for a caller without a token. */
  readonly clientId: ClientId;
  /** Keys sessions and idempotency: the device's, or the namespace that callers without a token share. */
  readonly owner: ClientId;
  /** Its device, if it proved one: what it has going on ends when the device is revoked. */
  readonly device?: Device;
}

export interface LayersDeps {
  readonly config: CoreConfig["gateway"];
  readonly webhook: CoreConfig["channels_config.webhook"];
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  readonly seenIds: SeenIds;
  readonly clock: Clock;
  readonly onClientGone: (clientId: ClientId) => void;
}

export class WebhookLayers {
  readonly #deps: LayersDeps;
  readonly #anonymous: AnonymousCallers | undefined;
  readonly #hasSecret: SecretCheck | undefined;
  readonly #signature: SignatureCheck | undefined;
  /** That nothing secures them. */
  readonly warning: string | undefined;

  /** Throws CONFIG_INVALID. */
  constructor(deps: LayersDeps) {
    this.#deps = deps;
    this.#hasSecret = secretCheck(deps.webhook.secret);
    const signingSecret = deps.webhook.signing_secret?.trim() ?? "";
    this.#signature = signingSecret === "" ? undefined : new SignatureCheck(signingSecret, deps.seenIds);
    const isSecured = this.#hasSecret !== undefined || this.#signature !== undefined;
    const { config, onClientGone } = deps;
    this.#anonymous = config.require_pairing ? undefined : anonymousCallers(config, isSecured, onClientGone);
    this.warning = this.#anonymous && !isSecured ? openWebhookWarning(deps.config) : undefined;
  }

  /** Everything that is decided before the body is read. */
  admit(headers: IncomingHttpHeaders, peer: Peer, limit: SlidingWindow): Caller | Reply {
    const { clock, clientOf } = this.#deps;
    const client = clientOf(headers, peer);
    const waitMs = limit.take(client.limiterKey, clock.monotonic());
    if (waitMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
    const caller = this.#callerOf(headers, peer, client);
    if (caller instanceof Reply) return caller;
    if (this.#hasSecret && !this.#hasSecret(headers["x-webhook-secret"])) return errorReply("BAD_WEBHOOK_SECRET");
    return refuseContentType(headers) ?? caller;
  }

  /** Answers an admitted request, told the webhook-id of one that had to be signed, and is. */
  async proven(
    headers: IncomingHttpHeaders,
    body: Buffer,
    answer: (signed: string | undefined) => Promise<Reply>,
  ): Promise<Reply> {
    const signed = this.#signature?.take(headers, body, this.#deps.clock.now());
    if (this.#signature && signed === undefined) return errorReply("BAD_SIGNATURE");
    const reply = await answer(signed);
    // A webhook-id counts as used only by a request that was taken, else the sender's retry would be refused.
    if (signed !== undefined && reply.status >= 300) this.#signature?.forget(signed);
    return reply;
  }

  #callerOf(headers: IncomingHttpHeaders, peer: Peer, client: Client): Caller | Reply {
    const { authenticator } = this.#deps;
    const { authorization } = headers;
    if (this.#anonymous && authenticator.deviceOf(authorization) === undefined) return this.#anonymous(headers, peer);
    const caller = authenticator.require(tokenOnly(headers), client, "webhook");
    if (caller instanceof Reply) return caller;
    const { device } = caller;
    return { clientId: device.clientId, owner: device.clientId, device };
  }
}
