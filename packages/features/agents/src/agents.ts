/** The feature: a pool of child agents, and what reaches it. */
import type { Contributions, FeatureContext } from "@svc/contract";
import type { PoolConfig } from "./config.ts";
import { AgentPool } from "./pool.ts";
import { routesOf } from "./routes.ts";
import { toolsOf } from "./tools.ts";

export function create(context: FeatureContext<PoolConfig>): Contributions {
  const pool = new AgentPool(context);
  const { agents, config } = context;
  return {
    tools: toolsOf(pool, agents, config),
    routes: routesOf(pool, agents),
    run: (signal) => pool.run(signal),
    shutdown: () => pool.stop(),
  };
}
