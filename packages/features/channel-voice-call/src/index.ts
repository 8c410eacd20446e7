/** `channel-voice-call`: telephone calls by a programmable-voice platform, by webhook. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "channel-voice-call",
  section: "channels_config.voice_call",
  config,
  load: () => import("./voice-call.ts"),
});
