/** `channel-federated`: a Matrix account that people write to, in encrypted rooms too. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "channel-federated",
  section: "channels_config.federated",
  config,
  load: () => import("./federated.ts"),
});
