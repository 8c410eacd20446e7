/** `webauthn`: passkeys (FIDO2) for the gateway. */
import { defineFeature, httpUrl } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), v.description("Turns passkeys on.")), false),
  rp_id: v.optional(
    v.pipe(v.string(), v.nonEmpty(), v.description("Relying party id: the host name that passkeys are bound to.")),
  ),
  rp_origin: v.optional(v.pipe(httpUrl(), v.description("Origin that the browser must be on."))),
  rp_name: v.optional(v.pipe(v.string(), v.nonEmpty(), v.description("Name that the browser shows.")), "svc"),
  sign_in: v.optional(
    v.pipe(v.boolean(), v.description("Lets a passkey sign in without a bearer: the auth endpoints are open then.")),
    false,
  ),
});

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "webauthn",
  section: "security.webauthn",
  config,
  load: () => import("./webauthn.ts"),
});
