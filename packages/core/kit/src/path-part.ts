import { type ErrorCode, SvcError } from "@svc/contract";

/**
 * An untrusted id as one segment of an API path. Throws `code` for "." and "..": no encoding keeps a URL from resolving them,
 * and the request, with its token, would go to another path.
 */
export function pathPart(id: string, code: ErrorCode = "DELIVERY_REFUSED"): string {
  if (/^\.{0,2}$/.test(id)) throw new SvcError(code, "This is no id of the platform.");
  // Of half a character the encoding would throw.
  return encodeURIComponent(id.toWellFormed());
}
