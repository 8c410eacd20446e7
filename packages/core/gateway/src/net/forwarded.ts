/** What reverse proxies write about where a request came from. Believed only as far as `client.ts` says. */
import type { IncomingHttpHeaders } from "node:http";
import { canonicalAddress } from "./address.ts";

/** Headers by which a proxy gives itself away; any of them means the socket's peer is not the caller. */
const FORWARDING_HEADERS = [
  "x-forwarded-for",
  "forwarded",
  "x-real-ip",
  "via",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-forwarded-server",
  "x-client-ip",
  "x-cluster-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "x-envoy-external-address",
  "x-original-forwarded-for",
] as const;

/** A chain longer than this is not a chain of proxies but somebody's attempt to keep us busy. */
const MAX_HOPS = 64;

export function hasForwardingHeader(headers: IncomingHttpHeaders): boolean {
  for (const name of FORWARDING_HEADERS) if (headers[name] !== undefined) return true;
  return false;
}

/**
 * The address the nearest proxy saw: the RIGHTMOST valid hop of X-Forwarded-For, else X-Real-IP, else undefined. What
 * stands further left was sent by the caller and proves nothing.
 */
export function forwardedAddress(headers: IncomingHttpHeaders): string | undefined {
  return rightmostHop(single(headers["x-forwarded-for"])) ?? hopAddress(single(headers["x-real-ip"]));
}

function rightmostHop(list: string): string | undefined {
  let end = list.length;
  for (let hops = 0; end > 0 && hops < MAX_HOPS; hops += 1) {
    const comma = list.lastIndexOf(",", end - 1);
    const address = hopAddress(list.slice(comma + 1, end));
    if (address !== undefined) return address;
    end = comma;
  }
  return undefined;
}

/** One hop as proxies spell it: `ip`, `ip:port`, `[v6]`, `[v6]:port`, any of them in double quotes. */
export function hopAddress(text: string): string | undefined {
  let hop = text.trim();
  if (hop.length > 1 && hop.startsWith('"') && hop.endsWith('"')) hop = hop.slice(1, -1).trim();
  const parts = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop) ?? /^([\d.]+):\d{1,5}$/.exec(hop);
  return canonicalAddress(parts?.[1] ?? hop);
}

const single = (value: string | string[] | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : value.join(",");
