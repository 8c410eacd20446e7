/** `provider-a-web`: WhatsApp as a linked device. The section is `channel-provider-a`'s; `session_path` alone selects this mode. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "provider-a-web",
  extends: "channels_config.provider_a",
  when: ({ session_path: session, phone_number_id: phone }) => session !== undefined && phone === undefined,
  load: () => import("./provider-a-web.ts"),
});
