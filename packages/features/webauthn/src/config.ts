/** `[security.webauthn]`: what of it can be judged without `gateway.public_url`. */
import { httpUrl } from "@svc/contract";
import * as v from "valibot";

// What browsers let passkeys be bound to (https://www.w3.org/TR/webauthn-3/#relying-party-identifier). Pure.

/** A host name, or `localhost`; never an IP address, and never a top-level domain, which is everybody's. */
function isDomain(text: string): boolean {
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

const section = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), v.description("Turns passkeys on.")), false),
  rp_id: v.optional(
    v.pipe(
      v.string(),
      v.check(isDomain, "a host name such as agent.example.org; browsers bind no passkey to an IP address"),
      v.transform((id) => id.toLowerCase()),
      v.description(
        "Host name that passkeys are bound to: that of rp_origin, or a domain above it. Default: the host of rp_origin.",
      ),
    ),
  ),
  rp_origin: v.optional(
    v.pipe(
      httpUrl(),
      v.check(isSecureOrigin, "https:// and a host name without a path, or http://localhost with its port"),
      v.transform((url) => new URL(url).origin),
      v.description(
        "Origin of the page on which people use passkeys. Default: gateway.public_url, else http://localhost.",
      ),
    ),
  ),
  rp_name: v.optional(
    v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(64), v.description("Name that the browser shows.")),
    "svc",
  ),
  sign_in: v.optional(
    v.pipe(v.boolean(), v.description("Let a passkey sign in without a bearer token; this opens the auth endpoints.")),
    false,
  ),
});

export const config = v.pipe(
  section,
  v.forward(
    v.partialCheck(
      [["rp_id"], ["rp_origin"]],
      ({ rp_id: id, rp_origin: origin }) =>
        id === undefined || origin === undefined || isSuffixOf(id, new URL(origin).hostname),
      "the host of rp_origin, or a domain above it",
    ),
    ["rp_id"],
  ),
);

export type Config = v.InferOutput<typeof config>;
