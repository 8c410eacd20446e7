/** `channel-telegram`: a Telegram bot, by long polling or webhook. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "channel-telegram",
  section: "channels_config.telegram",
  config,
  load: () => import("./telegram.ts"),
});
