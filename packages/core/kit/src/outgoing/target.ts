import { isIPv4 } from "node:net";
import { SvcError } from "@svc/contract";
import { FETCH_LIMITS } from "./guarded-fetch.ts";

/**
 * The URL of a request or of a redirect (`base`: the URL that redirected). Refuses URLs other than http(s), user names, and
 * hosts spelled so that a reader, a list and the resolver can understand different machines.
 */
export function parseTarget(text: string, base?: URL): URL {
  const trimmed = text.trim();
  if (trimmed.length > FETCH_LIMITS.urlChars) throw refused("The URL is too long.");
  // The URL parser drops tabs and newlines and reads \ as /; the checked URL must be the fetched URL.
  if (/[\\\p{Cc}]/u.test(trimmed)) throw refused("The URL contains control characters or backslashes.");
  if (!URL.canParse(trimmed, base?.href)) throw refused("This is not an absolute URL.");
  const url = new URL(trimmed, base?.href);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refused("Only http and https URLs are fetched.");
  if (url.username !== "" || url.password !== "") {
    throw refused("A URL with a user name or password in it is refused.", "Send credentials in a header instead.");
  }
  if (url.hostname === "" || url.hostname.endsWith(".")) throw refused("The URL's host is empty or ends with a dot.");
  if (url.port === "0") throw refused("Port 0 can't be connected to.");
  checkSpelling(trimmed, url);
  url.hash = "";
  return url;
}

/** `0x7f.1`, `2130706433`, `127.1` and `%31…` all become an IPv4 address: only the dotted form may be written. */
function checkSpelling(text: string, url: URL): void {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0] ?? "";
  const rest = text.slice(scheme.length);
  if (scheme === "" && !rest.startsWith("//")) return; // a relative redirect: the host is the one checked before
  const authority = /^\/\/([^/?#]+)/.exec(rest)?.[1];
  if (authority === undefined) throw refused("The URL's host must follow two slashes.");
  const host = authority.replace(/:[0-9]*$/, "");
  if (isIPv4(url.hostname) && host !== url.hostname) throw refused("Write an IPv4 address as four decimal numbers.");
  if (/%/.test(host)) throw refused("A host is written without % signs.");
}

export function refused(message: string, hint?: string): SvcError {
  return new SvcError("ADDRESS_REFUSED", message, hint === undefined ? {} : { hint });
}
