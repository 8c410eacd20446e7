/** Whether a request may start a turn or a procedure: its token, the webhook secret, its signature, and that it was not seen before. */
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type ClientId, type Clock, trimOf } from "@svc/contract";
import type { CoreConfig, HashedSecret } from "@svc/config";
import { WEBHOOK_TOLERANCE_SECS, verifyWebhook, webhookKeyOf } from "@svc/kit";
import { type Authenticator, tokenOnly } from "../auth/authenticator.ts";
import { Reply, errorReply, jsonReply } from "../http/reply.ts";
import { ANONYMOUS } from "../identity.ts";
import { type Peer, hasForwardingHeader } from "../client.ts";
import type { Caller, Check, Exchange } from "../pipeline.ts";
import { type Duplicate, IdempotencyKey } from "@svc/api";
import type { IdempotencyClaim } from "@svc/store";
import * as v from "valibot";

export interface AdmissionDeps {
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

export type AnonymousCallers = (headers: IncomingHttpHeaders, peer: Peer) => Caller | Reply;

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

export type SecretCheck = (header: string | string[] | undefined) => boolean;

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

/** An id must be remembered as long as its timestamp could still be fresh: from as far ahead to as far behind. */
export const REMEMBER_MS = 2 * WEBHOOK_TOLERANCE_SECS * 1000;

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

// Repeated requests, found by the sender's idempotency key and by the id of a signed request.

export interface IdempotencyStore {
  /** A key that runs or is stored within its TTL is a duplicate. Otherwise it is claimed, for the turn to settle. */
  claim(claim: IdempotencyClaim): "new" | "duplicate";
  /** Inside a transaction: from then on the key is a duplicate, also after a restart. `workId`: the work it started. */
  keep(claim: IdempotencyClaim, workId: string, state: "done"): void;
  /** Ends the claim: from now on the stored state decides. */
  release(claim: IdempotencyClaim): void;
}

/** The answer to a request whose idempotency key, or whose webhook-id, was seen before. */
export const DUPLICATE_REPLY = jsonReply(200, {
  status: "duplicate",
  idempotent: true,
  message: "This request was already processed for this idempotency key.",
} satisfies Duplicate);

/** 400: `X-Idempotency-Key` is malformed. `keyOn`: the key as it is stored, for keys that are about one path. */
export const idempotencyClaim =
  (keyOn: (path: string, key: string) => string = (_path, key) => key): Check =>
  (exchange) => {
    const sent = idempotencyKey(exchange.incoming.headers["x-idempotency-key"]);
    if (sent instanceof Reply) return sent;
    const key = sent === undefined ? undefined : keyOn(exchange.path, sent);
    exchange.claim = claimOf(exchange.caller.owner, key, exchange.signedId);
    return undefined;
  };

/** 200 DUPLICATE. From here on the key is claimed. */
export const notDuplicate =
  (store: Pick<IdempotencyStore, "claim">): Check =>
  ({ claim }) =>
    claim && store.claim(claim) === "duplicate" ? DUPLICATE_REPLY : undefined;

/** `X-Idempotency-Key`. Undefined when it was not sent. */
export function idempotencyKey(value: IncomingHttpHeaders[string]): string | undefined | Reply {
  return value === undefined || v.is(IdempotencyKey, value) ? value : errorReply("BAD_IDEMPOTENCY_KEY");
}

/**
 * The signed id is a key too, beside the sender's own: it outlives a restart, which the seen ids do not, and the
 * sender's own key is not signed, so an attacker who replays a request can change it. It is kept as long as its timestamp
 * can be fresh; with a shorter window the request could be replayed.
 */
export function claimOf(
  scope: ClientId,
  key: string | undefined,
  signed: string | undefined,
): IdempotencyClaim | undefined {
  if (signed === undefined) return key === undefined ? undefined : { scope, key };
  const id = `webhook-id:${signed}`;
  const minTtlMs = REMEMBER_MS;
  return key === undefined ? { scope, key: id, minTtlMs } : { scope, key, also: id, minTtlMs };
}
