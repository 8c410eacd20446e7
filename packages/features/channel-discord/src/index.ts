/** `channel-discord`: a bot, by its gateway connection. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "channel-discord",
  section: "channels_config.discord",
  config,
  load: () => import("./discord.ts"),
});
