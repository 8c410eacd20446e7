/** `[security.webauthn]`: what of it can be judged without `gateway.public_url`. */
import { httpUrl } from "@svc/contract";
import * as v from "valibot";
import { isDomain, isSecureOrigin, isSuffixOf } from "./domain.ts";

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
