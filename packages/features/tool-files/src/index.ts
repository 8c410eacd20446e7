/** `tool-files`: files of the workspace, for the model. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "tool-files",
  load: () => import("./files.ts"),
});
