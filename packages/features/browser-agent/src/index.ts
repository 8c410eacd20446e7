/** `browser-agent`: the browser tool through the program agent-browser. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "browser-agent",
  extends: "browser",
  when: ({ enabled, backend }) => enabled === true && backend === "agent_browser",
  load: () => import("./agent.ts"),
});
