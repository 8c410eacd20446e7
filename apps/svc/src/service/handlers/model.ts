/** `svc model test`: one tiny call to the model of an agent, and what it took. */
import type { ModelTest } from "@svc/agent";
import type { Json } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import type { ModelReport } from "../../cli/model-report.ts";

/** Tests the model of the named agent, else of the default one. Throws AGENT_UNKNOWN. */
export type TestModel = (agent: string | undefined, signal: AbortSignal) => Promise<ModelTest>;

export const modelHandlers = (test: TestModel): ControlHandlers => ({
  "model-test": async ({ body, signal }) => {
    const agent = typeof body["agent"] === "string" ? body["agent"] : undefined;
    return { ...modelReport(await test(agent, signal)) } as unknown as Json;
  },
});

export function modelReport({ agent, provider, model, ok, error, ...cost }: ModelTest): ModelReport {
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
