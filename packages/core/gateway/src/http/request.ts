/**
 * What a request asks for, read once. Routing, limits, the rules of who may call and the handshake of a WebSocket all go by
 * this path: two readings of one target are how a request gets past the rules of one of them.
 */
import type { IncomingMessage } from "node:http";
import { isCanonicalPath } from "@svc/kit";

export interface Target {
  /** Of the absolute form: it beats the Host (RFC 9112 section 3.2.2). */
  readonly authority: string | undefined;
  /** Empty for one that is not canonical: no route has that path. */
  readonly path: string;
  /** Behind the first question mark. */
  readonly query: string;
}

/** Undefined: the target is neither a path nor a URL. Leaves path and query alone in `incoming.url`. */
export function targetOf(incoming: IncomingMessage): Target | undefined {
  const known = incoming as Known;
  known[TARGET] ??= read(incoming);
  return known[TARGET] ?? undefined;
}

const TARGET = Symbol("target");

interface Known extends IncomingMessage {
  [TARGET]?: Target | null;
}

function read(incoming: IncomingMessage): Target | null {
  const written = incoming.url ?? "";
  if (written.startsWith("/")) return partsOf(written, undefined);
  // The absolute form is for proxies, but RFC 9112 section 3.2.2 wants it understood.
  const scheme = /^https?:\/\//i.exec(written)?.[0];
  if (scheme === undefined) return null;
  const rest = written.slice(scheme.length);
  const end = rest.search(/[/?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const target = end < 0 ? "/" : rest.slice(end);
  if (authority === "" || !target.startsWith("/")) return null;
  incoming.url = target;
  return partsOf(target, authority);
}

function partsOf(target: string, authority: string | undefined): Target {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  return { authority, path: isCanonicalPath(path) ? path : "", query: mark < 0 ? "" : target.slice(mark + 1) };
}

/** Bytes the request says its body has; Infinity when it is chunked and says nothing. */
export function declaredBytes(incoming: IncomingMessage): number {
  const { headers } = incoming;
  if (headers["transfer-encoding"] !== undefined) return Infinity;
  // The strict parser let it through, so it is a whole number.
  const length = headers["content-length"];
  return length === undefined ? 0 : Number(length);
}

export const queryOf = (incoming: IncomingMessage): URLSearchParams =>
  new URLSearchParams(targetOf(incoming)?.query ?? "");

/** Which paths are a route's. */
export const pathPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split(/\{\w+\}/)
      .map(RegExp.escape)
      .join("[^/]+")}$`,
  );
