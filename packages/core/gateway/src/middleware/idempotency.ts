/** Detects repeated requests, by the sender's idempotency key and by the id of a signed request. */
import type { IncomingHttpHeaders } from "node:http";
import { type Duplicate, IdempotencyKey } from "@svc/api";
import type { ClientId } from "@svc/contract";
import type { IdempotencyClaim } from "@svc/store";
import * as v from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { Check } from "./pipeline.ts";
import { REMEMBER_MS } from "./webhook-admission.ts";

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
