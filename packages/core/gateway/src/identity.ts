/**
 * The only place that mints a `ClientId`: one per paired token (stored with the device, so it survives restarts), one per
 * connection without a token, and one per person who writes to a channel. All other code receives its `ClientId` from a
 * caller.
 */
import { hash, randomBytes } from "node:crypto";
import type { ChannelIdentity } from "@svc/messaging";
import type { ClientId } from "@svc/contract";

/** A new identity: 128 random bits, so that no tool or client can guess another's. */
export const mintClientId = (): ClientId => randomBytes(16).toString("base64url") as ClientId;

/** The one namespace that callers without a token share for sessions and idempotency keys. */
export const ANONYMOUS = "anonymous" as ClientId;

const ANONYMOUS_PREFIX = `${ANONYMOUS}.`;

/** One connection of a caller without a token. */
export const mintAnonymousId = (): ClientId => `${ANONYMOUS_PREFIX}${mintClientId()}` as ClientId;

/** Client whose limits a caller counts against: those without a token count together, whatever connection they come by. */
export const limitedClient = (clientId: ClientId): ClientId =>
  clientId.startsWith(ANONYMOUS_PREFIX) ? ANONYMOUS : clientId;

/**
 * Who the people of a channel are. Made of their names, so that it is the same after a restart and nothing has to be kept
 * for everybody who ever wrote; a list, so that no channel and sender can be put together to be two others. `isPaired`: whether
 * a device may still come in that asked something and did not wait.
 */
export const channelIdentity = (isPaired: (clientId: ClientId) => boolean = () => true): ChannelIdentity => ({
  channel: (channel) => derivedClientId(["channel", channel]),
  sender: (channel, sender) => derivedClientId(["sender", channel, sender]),
  ofSession(storedOwner, turnId) {
    const owner = storedOwner as ClientId;
    if (owner !== ANONYMOUS) return { owner, clientId: owner, isGone: !isPaired(owner) };
    // The connection that sent it is gone, and anonymous callers must not see each other's tools.
    return { owner, clientId: `${ANONYMOUS_PREFIX}${derivedClientId(["request", turnId])}` as ClientId, isGone: false };
  },
});

/** Whom the turns of procedures belong to. */
export const proceduresIdentity = (): ClientId => derivedClientId(["procedures"]);

const derivedClientId = (names: readonly string[]): ClientId =>
  hash("sha256", JSON.stringify(names), "buffer").subarray(0, 16).toString("base64url") as ClientId;
