/** What a request is told from its repetition by. */
import type { ClientId } from "@svc/contract";
import type { IdempotencyClaim } from "@svc/store";
import { REMEMBER_MS } from "../middleware/webhook-admission.ts";

/**
 * The signed id is a key too, beside the sender's own: it outlives a restart, which the seen ids do not, and the
 * sender's own key is not signed, so that whoever replays a request can change it. It is kept as long as its timestamp
 * can be fresh, or a short window would let the request in again.
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
