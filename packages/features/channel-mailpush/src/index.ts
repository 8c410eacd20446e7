/** `channel-mailpush`: Gmail, told of new mail by Pub/Sub. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "channel-mailpush",
  section: "channels_config.mailpush",
  config,
  load: () => import("./mailpush.ts"),
});
