/**
 * The token with which Pub/Sub signs a push: OpenID Connect, RS256. Checked here and not by a library, because an ingress
 * says at once who posted, and libraries fetch keys on the way.
 */
import { type KeyObject, verify } from "node:crypto";
import type { Json } from "@svc/contract";
import { parseJson } from "@svc/kit";
import * as v from "valibot";
import type { SigningKeys } from "./keys.ts";

export interface Expected {
  readonly audience: string;
  /** Address of the service account. */
  readonly email: string;
}

export type TokenVerdict =
  | { readonly ok: true }
  /** `later`: the key may only not be here yet. */
  | { readonly ok: false; readonly why: string; readonly later: boolean };

const ISSUERS = new Set(["https://accounts.google.com", "accounts.google.com"]);
/** Clocks differ; the token itself is good for an hour. */
const CLOCK_SKEW_SECS = 60;
const MAX_CHARS = 8192;

const header = v.object({ alg: v.literal("RS256"), kid: v.pipe(v.string(), v.nonEmpty(), v.maxLength(200)) });
const claims = v.object({
  iss: v.string(),
  aud: v.string(),
  email: v.string(),
  /** The platform says it beside the address; whoever stands in for it may say the address only. */
  email_verified: v.optional(v.boolean(), true),
  exp: v.number(),
  iat: v.optional(v.number(), 0),
});

export function verifyToken(token: string, expected: Expected, keys: SigningKeys, nowMs: number): TokenVerdict {
  const [head, payload, signature, ...more] = token.length > MAX_CHARS ? [] : token.split(".");
  if (head === undefined || payload === undefined || !signature || more.length > 0) {
    return wrong("the bearer is neither webhook_secret nor a signed token");
  }
  // Only this algorithm: a token must not choose one that is weaker, or none.
  const named = v.safeParse(header, jsonOf(head));
  if (!named.success) return wrong("the token is not signed with RS256, or names no key");
  const key = keys.find(named.output.kid);
  if (key === undefined)
    return { ok: false, later: keys.ask(), why: "the token is signed with a key that is not known" };
  if (!isSigned(key, `${head}.${payload}`, signature)) return wrong("the token's signature is wrong");
  return judge(jsonOf(payload), expected, nowMs / 1000);
}

function isSigned(key: KeyObject, text: string, signature: string): boolean {
  if (!BASE64URL.test(signature)) return false;
  return verify("RSA-SHA256", Buffer.from(text), key, Buffer.from(signature, "base64url"));
}

function judge(payload: Json | undefined, { audience, email }: Expected, nowSecs: number): TokenVerdict {
  const parsed = v.safeParse(claims, payload);
  if (!parsed.success) return wrong("the token lacks a claim");
  const { iss, aud, email: of, email_verified: isVerified, exp, iat } = parsed.output;
  if (!ISSUERS.has(iss)) return wrong("the token is of another issuer");
  if (aud !== audience) return wrong("the token is for another audience than push_audience");
  if (of !== email || !isVerified) return wrong("the token is of another account than push_service_account");
  if (!(exp > nowSecs - CLOCK_SKEW_SECS)) return wrong("the token has expired");
  if (iat > nowSecs + CLOCK_SKEW_SECS) return wrong("the token is of the future");
  return { ok: true };
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

const jsonOf = (part: string): Json | undefined =>
  BASE64URL.test(part) ? parseJson(Buffer.from(part, "base64url")) : undefined;

const wrong = (why: string): TokenVerdict => ({ ok: false, why, later: false });
