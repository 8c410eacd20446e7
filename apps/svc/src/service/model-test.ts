/** A test of a model: one tiny call, and what it took. Of an agent that runs, or of a config that is not written yet. */
import { createAgent, type ModelTest, type ToolEnvironment } from "@svc/agent";
import type { ModelReport } from "@svc/api/control";
import { DEFAULT_AGENT, type LoadedConfig, resolveAgents } from "@svc/config";
import { SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { createLogger } from "@svc/runtime";
import { openStore } from "@svc/store";
import type { Handlers } from "./control.ts";

/** Tests the model of the named agent, else of the default one. Throws AGENT_UNKNOWN. */
export type TestModel = (agent: string | undefined, signal: AbortSignal) => Promise<ModelTest>;

export const modelHandlers = (test: TestModel): Pick<Handlers, "model-test"> => ({
  "model-test": async ({ body, signal }) => modelReport(await test(body.agent, signal)),
});

function modelReport({ agent, provider, model, ok, error, ...cost }: ModelTest): ModelReport {
  return {
    agent,
    provider,
    model,
    ok,
    latency_ms: Math.round(cost.latencyMs),
    input_tokens: cost.inputTokens,
    output_tokens: cost.outputTokens,
    cost_usd: cost.costUsd ?? null,
    price_known: cost.priceKnown,
    error: error
      ? { code: error.code, message: error.message, hint: error.hint ?? null, said: error.said ?? null }
      : null,
  };
}

/** The call is made without tools. */
const NO_TOOLS = { tools: [] as const } as unknown as ToolEnvironment;

/** Of a config that is not written yet, by an agent of its own, which keeps nothing. Throws AGENT_UNKNOWN. */
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
