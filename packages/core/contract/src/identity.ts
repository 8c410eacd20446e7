/**
 * The opaque identity of whoever is talking to the service. Comparable by `===`, usable as a Map key, serialisable.
 * Only the gateway mints one (`@svc/gateway`, src/identity.ts); a tool or channel is handed it and never makes it.
 */
declare const brand: unique symbol;
export type ClientId = string & { readonly [brand]: "ClientId" };
