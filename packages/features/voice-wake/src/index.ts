/** `voice-wake`: a wake word at the local microphone, and the command behind it. */
import { defineFeature } from "@svc/contract";
import { config, SECTION } from "./config.ts";

export default defineFeature({
  id: "voice-wake",
  section: SECTION,
  config,
  needs: () => [{ section: "transcription" }],
  load: () => import("./voice-wake.ts"),
});
