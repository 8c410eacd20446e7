/** One tiny model call without tools: whether the model of an agent answers, how fast, and what that costs. */
import { type Clock, SvcError } from "@svc/contract";
import { type Budget, Meter, type Spending, isPriceKnown } from "./cost.ts";
import type { AgentProfile } from "./profiles.ts";
import { type LimitTimer, TimeLimit } from "./turn/active-turns.ts";
import { userMessage } from "./turn/history.ts";
import type { ModelTest } from "./types.ts";
import { type AgentModels, estimateTokens, modelName } from "./models/agent-models.ts";
import { callModel } from "./turn/model-call.ts";

export interface ModelTestDeps {
  readonly models: AgentModels;
  readonly budget: Budget;
  readonly spending: Spending;
  readonly clock: Clock;
  readonly timer: LimitTimer;
  /** Takes the configured secrets out of a text. */
  readonly redact: (text: string) => string;
}

const PROMPT = "This is a test of the connection. Answer with the word OK.";
/** The least that every provider accepts. */
const MAX_OUTPUT_TOKENS = 16;
const TIME_LIMIT_MS = 60_000;

/** It counts against the budget like any call. Throws TURN_CANCELLED; what else goes wrong is the result. */
export async function testModel(parts: ModelTestDeps, profile: AgentProfile, signal: AbortSignal): Promise<ModelTest> {
  const { budget, spending, clock, timer } = parts;
  const { name: agent, model } = profile;
  const meter = new Meter(model, (usd) => budget.spend(agent, undefined, usd));
  const limit = new TimeLimit(timer, signal);
  const startedMs = clock.monotonic();
  let error: SvcError | undefined;
  limit.start(TIME_LIMIT_MS);
  try {
    await callOnce(parts, profile, meter, limit.signal);
  } catch (cause) {
    error = asModelError(cause);
  } finally {
    limit.end();
  }
  const latencyMs = clock.monotonic() - startedMs;
  await spending.record(profile, meter);
  if (error?.code === "TURN_CANCELLED") throw error;
  const { inputTokens, outputTokens, costUsd } = meter;
  const used = { latencyMs, inputTokens, outputTokens, costUsd, priceKnown: isPriceKnown(model) };
  const tested = { agent, provider: model.provider, model: modelName(model), ok: error === undefined, ...used };
  return error ? { ...tested, error: errorJson(error) } : tested;
}

/** Not repeated: who tests wants to see what goes wrong. */
async function callOnce(
  { models, budget, clock, redact }: ModelTestDeps,
  profile: AgentProfile,
  meter: Meter,
  abortSignal: AbortSignal,
): Promise<void> {
  budget.check(profile, undefined);
  const model = await models.modelOf(profile);
  const options = { prompt: [userMessage(PROMPT)], maxOutputTokens: MAX_OUTPUT_TOKENS, abortSignal };
  const estimate = () => ({ inputTokens: estimateTokens(PROMPT), outputTokens: MAX_OUTPUT_TOKENS });
  const onLost = (): void => meter.add({ inputTokens: undefined, outputTokens: undefined }, estimate);
  const about = { ...models.aboutOf(profile), redact };
  meter.add(await callModel({ model, options, clock, maxRetries: 0, about, onLost }), estimate);
}

function asModelError(cause: unknown): SvcError {
  if (!(cause instanceof SvcError)) return new SvcError("INTERNAL", undefined, { cause });
  if (cause.code !== "TURN_TIMEOUT") return cause;
  return new SvcError("MODEL_UNREACHABLE", `The model did not answer within ${TIME_LIMIT_MS / 1000} seconds.`, {
    hint: "Check model.base_url and the network.",
  });
}

const errorJson = ({ code, message, hint, said }: SvcError) => ({
  code,
  message,
  ...(hint !== undefined && { hint }),
  ...(said !== undefined && { said }),
});
