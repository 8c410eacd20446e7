/** `agents`: child agents in processes of their own. On where `[agents_pool]` is in the config. */
import { defineFeature } from "@svc/contract";
import { poolConfig } from "./config.ts";

export default defineFeature({
  id: "agents",
  section: "agents_pool",
  config: poolConfig,
  load: () => import("./agents.ts"),
  commands: { agents: () => import("./command.ts") },
});
