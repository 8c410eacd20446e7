/** Whether the model of a config that is not written yet answers: an agent of its own, which keeps nothing. */
import { createAgent, type ToolEnvironment } from "@svc/agent";
import { createLogger, DEFAULT_AGENT, type LoadedConfig, resolveAgents, systemClock } from "@svc/kernel";
import { openStore } from "@svc/store";
import type { ModelReport } from "../cli/model-report.ts";
import { modelReport } from "../service/handlers/model.ts";

/** The call is made without tools. */
const NO_TOOLS = { tools: [] as const } as unknown as ToolEnvironment;

export async function testModelOf({ core }: LoadedConfig): Promise<ModelReport> {
  const { name, instructions, model, maxCostPerDay } = resolveAgents(core).get(DEFAULT_AGENT)!;
  const turn = { timeoutMs: core.agent.turn_timeout_secs * 1000, maxSteps: core.agent.max_steps };
  const profile = { name, instructions, model, choices: [], maxCostPerDay, turn, environment: NO_TOOLS };
  const store = openStore({ file: ":memory:", clock: systemClock, idempotency: { ttlMs: 0, maxKeys: 1 } });
  try {
    const agent = createAgent({
      agents: { profiles: new Map([[name, profile]]), maxParallelTurns: 1, historyMaxTokens: 0 },
      store,
      clock: systemClock,
      log: createLogger({ level: "error", write: () => {}, json: true, clock: systemClock }),
    });
    return modelReport(await agent.test(name, new AbortController().signal));
  } finally {
    store.close();
  }
}
