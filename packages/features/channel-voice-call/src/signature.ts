/**
 * `X-Twilio-Signature`: base64 of the HMAC-SHA-1, by the auth token, of the URL as the platform called it and of each field
 * of the form, name and value, sorted by name.
 * https://www.twilio.com/docs/usage/security#validating-requests
 */
import { equalSecrets } from "@svc/kit";
import { createHmac } from "node:crypto";
import type { Form } from "./protocol.ts";

export const SIGNATURE_HEADER = "x-twilio-signature";

export function signatureOf(authToken: string, url: string, form: Form): string {
  const hmac = createHmac("sha1", authToken).update(url);
  for (const name of [...form.keys()].sort()) {
    // One that comes twice with the same value is signed once.
    for (const value of [...new Set(form.get(name))].sort()) hmac.update(name).update(value);
  }
  return hmac.digest("base64");
}

export interface SignedRequest {
  readonly url: string;
  readonly form: Form;
  readonly header: string | undefined;
}

/** In a time that tells nothing. False, too, for a blank token: with it anyone could sign. */
export function isSigned(authToken: string, { url, form, header }: SignedRequest): boolean {
  if (authToken.trim() === "") return false;
  return portsOf(url).some((candidate) => equalSecrets(header, signatureOf(authToken, candidate, form)));
}

/** The platform signs some URLs with their port and some without, the standard one included. */
function portsOf(url: string): readonly string[] {
  const [, scheme, host, port, rest] = URL_PARTS.exec(url) ?? [];
  if (scheme === undefined || host === undefined || rest === undefined) return [url];
  const standard = scheme.toLowerCase() === "https://" ? ":443" : ":80";
  return [`${scheme}${host}${rest}`, `${scheme}${host}${port ?? standard}${rest}`];
}

/** Not by the URL class: it writes some characters otherwise than they were signed. */
const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)(\[[^\]]*\]|[^/?#:]*)(:[0-9]+)?(.*)$/is;
