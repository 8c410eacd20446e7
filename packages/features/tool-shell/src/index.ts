/** `tool-shell`: commands in the sandbox, for the model. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "tool-shell",
  load: () => import("./shell.ts"),
});
