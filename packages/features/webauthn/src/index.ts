/** `webauthn`: passkeys (FIDO2) for the gateway. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export type { Config } from "./config.ts";

export default defineFeature({
  id: "webauthn",
  section: "security.webauthn",
  config,
  load: () => import("./webauthn.ts"),
});
