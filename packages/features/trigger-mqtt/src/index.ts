/** `trigger-mqtt`: messages of a broker start procedures. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "trigger-mqtt",
  section: "mqtt",
  config,
  load: () => import("./mqtt.ts"),
});
