/**
 * The opaque identity of a caller. Comparable by `===`, usable as a Map key, serialisable.
 * Only the gateway mints one (`@svc/gateway`, src/identity.ts); a tool or channel receives it and never makes it.
 */
declare const brand: unique symbol;
export type ClientId = string & { readonly [brand]: "ClientId" };
