/** `browser-computer-use`: the browser tool through a computer-use service. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "browser-computer-use",
  extends: "browser",
  when: ({ enabled, backend }) => enabled === true && backend === "computer_use",
  load: () => import("./computer-use.ts"),
});
