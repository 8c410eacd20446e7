/** Whether the model of a config that is not written yet answers: an agent of its own, which keeps nothing. */
import { SvcError } from "@svc/contract";
import { createAgent, type ToolEnvironment } from "@svc/agent";
import { createLogger } from "@svc/runtime";
import { DEFAULT_AGENT, type LoadedConfig, resolveAgents } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { openStore } from "@svc/store";
import type { ModelReport } from "../cli/model-report.ts";
import { modelReport } from "../service/handlers/model.ts";

/** The call is made without tools. */
const NO_TOOLS = { tools: [] as const } as unknown as ToolEnvironment;

/** Throws AGENT_UNKNOWN. */
export async function testModelOf(
  { core }: LoadedConfig,
  signal: AbortSignal = new AbortController().signal,
  agentName: string = DEFAULT_AGENT,
): Promise<ModelReport> {
  const meant = resolveAgents(core).get(agentName);
  if (!meant) throw new SvcError("AGENT_UNKNOWN");
  const { name, instructions, model, maxCostPerDay, clientMaxCostPerDay } = meant;
  const turn = { timeoutMs: core.agent.turn_timeout_secs * 1000, maxSteps: core.agent.max_steps };
  const limits = { maxCostPerDay, clientMaxCostPerDay };
  const profile = { name, instructions, model, choices: [], ...limits, turn, environment: NO_TOOLS };
  const store = openStore({ file: ":memory:", clock: systemClock, idempotency: { ttlMs: 0, maxKeys: 1 } });
  try {
    const agent = createAgent({
      agents: { profiles: new Map([[name, profile]]), maxParallelTurns: 1, historyMaxTokens: 0 },
      store,
      clock: systemClock,
      log: createLogger({ level: "error", write: () => {}, json: true, clock: systemClock }),
    });
    return modelReport(await agent.test(name, signal));
  } finally {
    store.close();
  }
}
