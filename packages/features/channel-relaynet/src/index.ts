/** `channel-relaynet`: a key of its own on a network of relays, to which people write encrypted messages. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "channel-relaynet",
  section: "channels_config.relaynet",
  config,
  load: () => import("./relaynet.ts"),
});
