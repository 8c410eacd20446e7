/** `Prefer: respond-async` (RFC 7240, section 4.1): the caller does not wait for the answer. */
import type { IncomingHttpHeaders } from "node:http";
import { replaceQuoted } from "@svc/kit";

/** Among other preferences, in any case, with or without parameters. What can't be read is no preference. */
export function prefersLater({ prefer }: IncomingHttpHeaders): boolean {
  const text = Array.isArray(prefer) ? prefer.join(",") : (prefer ?? "");
  // A comma within quotes separates nothing.
  const preferences = replaceQuoted(text, "").split(",");
  return preferences.some((preference) => /^\s*respond-async\s*(?:;|$)/i.test(preference));
}

/** Said with the answer of whoever was obeyed. */
export const APPLIED = ["preference-applied", "respond-async"] as const;
