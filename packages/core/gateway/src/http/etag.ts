/** What tells a client that the copy it has is the one it would be sent. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Without the quotes. */
export const contentTag = (bytes: string | Uint8Array): string => hash("sha256", bytes, "base64url").slice(0, 22);

/** Whether `If-None-Match` names the copy. Weak comparison, as RFC 9110 section 13.1.2 wants it. */
export function isKnown({ "if-none-match": known }: IncomingHttpHeaders, etag: string): boolean {
  if (known === undefined) return false;
  const strong = withoutWeakness(etag);
  return known.trim() === "*" || known.split(",").some((one) => withoutWeakness(one.trim()) === strong);
}

const withoutWeakness = (etag: string): string => etag.replace(/^W\//, "");
