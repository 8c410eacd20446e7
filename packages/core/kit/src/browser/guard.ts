/** Whether a page, or a part of one, may come from an address: first by the list, then by where its name leads. */
import { SvcError } from "@svc/contract";
import { isPublicAddress } from "../outgoing/address.ts";
import { parseTarget } from "../outgoing/target.ts";
import { isAllowedHost, isPrivateHost } from "./domains.ts";

export interface BrowserGuard {
  /**
   * The address as it may be opened; only its text is checked, not its DNS answer. http and https (ws, wss) without user names. Throws
   * DOMAIN_REFUSED, ADDRESS_REFUSED.
   */
  checkName(url: string): URL;
  /** The IP addresses to connect to, after one resolution. Throws the same, and REMOTE_UNREACHABLE. */
  check(url: string): Promise<readonly string[]>;
}

/** `resolve` is `FeatureContext.resolve`: it refuses private addresses but those of `security.net.allow_private`. */
export function browserGuard(
  allowedDomains: readonly string[],
  resolve: (url: string) => Promise<readonly string[]>,
): BrowserGuard {
  const checkName = (text: string): URL => {
    // ws and wss connect as http and https do.
    const { hostname } = parseTarget(text.replace(/^\s*ws(s?):/i, "http$1:"));
    if (allowedDomains.every((entry) => entry.trim() === "")) throw nothingAllowed();
    if (!isAllowedHost(hostname, allowedDomains)) throw domainRefused(hostname);
    return new URL(text.trim());
  };
  return {
    checkName,
    async check(text) {
      const url = checkName(text);
      const addresses = await resolve(`${url.protocol}//${url.host}/`).catch((error: unknown) => {
        throw isAddressRefused(error) ? addressRefused(url.hostname) : error;
      });
      // A private name that leads to a public address is some resolver's invention. One that leads to a private address got here
      // because security.net.allow_private has it.
      if (isPrivateHost(url.hostname) && addresses.every(isPublicAddress)) throw addressRefused(url.hostname);
      return addresses;
    },
  };
}

const isAddressRefused = (error: unknown): boolean => error instanceof SvcError && error.code === "ADDRESS_REFUSED";

const nothingAllowed = (): SvcError =>
  new SvcError("DOMAIN_REFUSED", "The browser has no allowed_domains configured, and so opens no page.", {
    hint: "An operator lists the hosts that pages may come from in browser.allowed_domains.",
  });

/** `host`: as the URL parser spells it. */
const domainRefused = (host: string): SvcError =>
  new SvcError("DOMAIN_REFUSED", `browser.allowed_domains does not list the host ${shownHost(host)}.`, {
    hint: "Only an operator can add it; do not look for a way around.",
  });

const addressRefused = (host: string): SvcError =>
  new SvcError(
    "ADDRESS_REFUSED",
    `The host ${shownHost(host)} is at a private, loopback, link-local or reserved address, and such addresses are refused.`,
    { hint: "To allow exactly this service, an operator adds its host:port to security.net.allow_private." },
  );

/** The model reads host names: invalid characters are removed, and a name long enough to hold a message is cut. */
export function shownHost(host: string): string {
  const plain = host.replaceAll(/[^a-z0-9.:[\]_-]/gi, "");
  return plain.length <= MAX_HOST_CHARS ? plain : `${plain.slice(0, MAX_HOST_CHARS)}…`;
}

const MAX_HOST_CHARS = 100;
