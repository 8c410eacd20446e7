/** `channel-provider-a`: the WhatsApp Cloud API, by webhook. */
import { defineFeature } from "@svc/contract";
import { config, isWebMode } from "./config.ts";

export default defineFeature({
  id: "channel-provider-a",
  section: "channels_config.provider_a",
  config,
  needs: (section) => (isWebMode(section) ? [{ key: "session_path", feature: "provider-a-web" }] : []),
  load: () => import("./provider-a.ts"),
});
