/**
 * The only place that mints a `ClientId`: one per paired token (stored with the device, so it survives restarts) and
 * one per connection that came without a token. Whoever else needs an identity is handed one.
 */
import { randomBytes } from "node:crypto";
import type { ClientId } from "@svc/contract";

/** A new identity: 128 random bits, so that no tool or client can guess another's. */
export const mintClientId = (): ClientId => randomBytes(16).toString("base64url") as ClientId;

/** The one namespace that callers without a token share for sessions and idempotency keys. */
export const ANONYMOUS = "anonymous" as ClientId;
