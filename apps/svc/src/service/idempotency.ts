/** What one config makes of idempotency keys. */
import type { LoadedConfig } from "@svc/kernel";

export const idempotencyOf = ({ core }: LoadedConfig): { ttlMs: number; maxKeys: number } => ({
  ttlMs: core.gateway.idempotency_ttl_secs * 1000,
  maxKeys: core.gateway.idempotency_max_keys,
});
