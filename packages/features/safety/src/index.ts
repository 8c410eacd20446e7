/** `safety`: moves a robot, and only through layers that stop it. On where `[safety]` is in the config. */
import { defineFeature } from "@svc/contract";
import { safetyConfig } from "./config.ts";

export default defineFeature({
  id: "safety",
  section: "safety",
  config: safetyConfig,
  load: () => import("./safety.ts"),
  needs: ({ drive }) => [
    ...(drive.backend === "board" ? [{ key: "drive", feature: "hardware-gpio" }] : []),
    { tool: "stop", beside: "drive" },
  ],
  commands: { safety: () => import("./command.ts") },
});
