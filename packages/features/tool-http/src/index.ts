/** `tool-http`: pages and APIs over the guarded client, for the model. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "tool-http",
  load: () => import("./http-get.ts"),
});
