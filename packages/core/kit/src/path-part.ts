import { type ErrorCode, SvcError } from "@svc/contract";

/**
 * An id that somebody else chose, as one part of a path of an API. Throws `code` for "." and "..": no encoding keeps a URL
 * from reading them as steps, and the request, token and all, would go to another path.
 */
export function pathPart(id: string, code: ErrorCode = "DELIVERY_REFUSED"): string {
  if (/^\.{0,2}$/.test(id)) throw new SvcError(code, "This is no id of the platform.");
  // Of half a character the encoding would throw.
  return encodeURIComponent(id.toWellFormed());
}
