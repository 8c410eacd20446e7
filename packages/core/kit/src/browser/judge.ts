/** Whether what the browser shows now may be told. Beside the proxy, which lets nothing else through, and where it is missing. */
import { SvcError } from "@svc/contract";
import { type BrowserGuard, shownHost } from "./guard.ts";
import { newestOfPage, type Refusal } from "./guarding-proxy.ts";

export interface Verdict {
  /** Why the page may not be told. */
  readonly error?: SvcError;
  /** The proxy had refused it: the browser shows nothing of it. */
  readonly proxied: boolean;
}

/** `refusals`: what the proxy has refused since the action began. */
export function judgePage(address: string, guard: BrowserGuard, refusals: readonly Refusal[]): Verdict {
  if (address === "" || address === "about:blank") return { proxied: false };
  if (address.startsWith("chrome-error:")) return { error: newestOfPage(refusals)?.error ?? noPage(), proxied: true };
  const url = pageOf(address);
  if (url === undefined) return { error: noWebPage(), proxied: false };
  const refusal = refusals.findLast(({ host }) => host === shownHost(url.hostname));
  if (refusal !== undefined) return { error: refusal.error, proxied: true };
  try {
    guard.checkName(`${url.protocol}//${url.host}/`);
    return { proxied: false };
  } catch (error) {
    return { error: error as SvcError, proxied: false };
  }
}

/** A `blob:` page belongs to the site that made it. */
function pageOf(address: string): URL | undefined {
  const text = address.replace(/^blob:/, "");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined;
}

const noPage = (): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The page did not load: the browser shows an error page.", {
    hint: "Open another page.",
  });

const noWebPage = (): SvcError =>
  new SvcError("ADDRESS_REFUSED", "The browser got to an address that is not http or https, and was closed.");
