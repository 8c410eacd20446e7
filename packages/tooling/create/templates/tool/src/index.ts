/** `__id__`: the size of a text file in the workspace, for the model. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "__id__",
  load: () => import("./__name__.ts"),
});
