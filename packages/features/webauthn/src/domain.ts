/** What browsers let passkeys be bound to (https://www.w3.org/TR/webauthn-3/#relying-party-identifier). Pure. */

/** A host name, or `localhost`; never an IP address, and never a top-level domain, which is everybody's. */
export function isDomain(text: string): boolean {
  const host = text.toLowerCase();
  if (host === "localhost") return true;
  return DOMAIN.test(host) && host.length <= 253 && hostOf(host) === host;
}

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** An origin on which browsers let a page use passkeys: https on a host name, or this machine's own `localhost`. */
export function isSecureOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash } = new URL(text);
  if (pathname !== "/" || search !== "" || hash !== "") return false;
  return isDomain(hostname) && (protocol === "https:" || (protocol === "http:" && isLocalhost(hostname)));
}

const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/** Whether a page on `host` may use passkeys of `id`. Browsers know the public suffixes; here a dot in it must do. */
export const isSuffixOf = (id: string, host: string): boolean => host === id || host.endsWith(`.${id}`);

/** As a URL spells it: an IPv4 address in any spelling becomes digits and dots, and so no domain. */
function hostOf(text: string): string | undefined {
  const url = `https://${text}`;
  const host = URL.canParse(url) ? new URL(url).hostname : undefined;
  return host === undefined || /^[\d.]+$/.test(host) ? undefined : host;
}
