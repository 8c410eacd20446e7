/**
 * Keys of what all may see and each has something in: a list that is shown, progress, a counter of everybody. `{client_id}:{name}`;
 * a ClientId is opaque, so one with a colon in it is escaped, and no client and name can be put together to be two others.
 *
 * There is no way back from a key to a ClientId, since nobody but the gateway may make one: whoever has a ClientId can ask what a
 * key says of it.
 */
import type { ClientId } from "./identity.ts";

export const displayKey = (clientId: ClientId, name: string): string => `${prefixOf(clientId)}${name}`;

/** The name in a key of this client; undefined: the key is somebody else's. */
export function nameInKey(key: string, clientId: ClientId): string | undefined {
  const prefix = prefixOf(clientId);
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}

const prefixOf = (clientId: ClientId): string => `${clientId.replace(/[%:]/g, escaped)}:`;

const escaped = (sign: string): string => (sign === ":" ? "%3A" : "%25");
