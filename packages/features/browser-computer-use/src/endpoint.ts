/** Allowed endpoints: on this machine, or behind TLS with a key, because the service acts as the user at that screen. */
import { isIP } from "node:net";
import { SvcError } from "@svc/contract";
import type { BrowserSettings } from "@svc/kit/browser";

/** Throws BROWSER_UNAVAILABLE, which disables the feature. */
export function checkEndpoint({
  computer_use_endpoint: endpoint,
  computer_use_api_key: key,
}: Pick<BrowserSettings, "computer_use_endpoint" | "computer_use_api_key">): void {
  const { protocol, hostname, username, password } = new URL(endpoint);
  if (username !== "" || password !== "") {
    throw new SvcError("BROWSER_UNAVAILABLE", "browser.computer_use_endpoint has a user name or password in it.", {
      hint: "Put the key into browser.computer_use_api_key.",
    });
  }
  if (isLoopback(hostname)) return;
  if (protocol === "https:" && (key ?? "").trim() !== "") return;
  throw new SvcError(
    "BROWSER_UNAVAILABLE",
    "A computer-use service that is not on this machine needs https and a key.",
    {
      hint: "Use an https:// URL in browser.computer_use_endpoint, and set browser.computer_use_api_key.",
    },
  );
}

/** `hostname` as the URL parser spells it. */
function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host === "localhost" || host.endsWith(".localhost");
}
