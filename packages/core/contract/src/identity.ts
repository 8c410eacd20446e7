/** Who calls, and the names under which clients and their devices are shown. */

/**
 * The opaque identity of a caller. Comparable by `===`, usable as a Map key, serialisable.
 * Only the gateway mints one (`@svc/gateway`, src/identity.ts); a tool or channel receives it and never makes it.
 */
declare const brand: unique symbol;
export type ClientId = string & { readonly [brand]: "ClientId" };

/**
 * Keys of what all may see and each has something in: a list that is shown, progress, a counter of everybody. `{client_id}:{name}`; a
 * ClientId is opaque, so one with a colon in it is escaped, and no client and name can be put together to be two others. A key can't be
 * turned back into a ClientId, since only the gateway may make one. Code that has a ClientId can look up its own name in a key.
 */
export const displayKey = (clientId: ClientId, name: string): string => `${prefixOf(clientId)}${name}`;

/** The name in a key of this client; undefined: the key belongs to another client. */
export function nameInKey(key: string, clientId: ClientId): string | undefined {
  const prefix = prefixOf(clientId);
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}

const prefixOf = (clientId: ClientId): string => `${clientId.replace(/[%:]/g, escaped)}:`;

const escaped = (sign: string): string => (sign === ":" ? "%3A" : "%25");

/**
 * What a paired device may be called: 1 to 64 printable characters, not all of them blank. Control characters would reach
 * the terminals that list the devices.
 */
export const DEVICE_NAME_PATTERN = /^(?=.*[^\p{Z}])[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;
