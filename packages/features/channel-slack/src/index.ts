/** `channel-slack`: a Slack app, by Socket Mode or the Events API. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "channel-slack",
  section: "channels_config.slack",
  config,
  load: () => import("./slack.ts"),
});
