// `svc model test`: tells what is wrong instead of throwing it, ends by itself, and is not a way around the budget.
import { describe, expect, test } from "vitest";
import { counting, failure, hang, agentFixture, scripted, text, until } from "./agent-fixture.ts";
import { KEY, rawServer } from "./provider-fixture.ts";

const never = new AbortController().signal;
const priced = {
  provider: "openai",
  name: "m",
  price: { input_per_million: 100_000, output_per_million: 0 },
} as const;

describe("a model test", () => {
  test("is one small call without tools and instructions, and tells what it took", async () => {
    const model = scripted(async () => (await clock.advance(120), [text("OK")]));
    const { agent, clock, store } = agentFixture({
      model,
      agents: { clerk: { model: priced, instructions: "Be long." } },
    });
    expect(await agent.test("clerk", never)).toEqual({
      agent: "clerk",
      provider: "openai",
      model: "m",
      ok: true,
      latencyMs: 120,
      inputTokens: 10,
      outputTokens: 5,
      costUsd: 1,
      priceKnown: true,
    });
    expect(model.asked).toMatchObject([{ maxOutputTokens: 16, prompt: [{ role: "user" }] }]);
    expect(model.asked[0]).not.toHaveProperty("tools");
    expect(store.usage.list("2026-01-01")).toMatchObject([{ agent: "clerk", model: "m", turns: 1, costUsd: 1 }]);
    expect([store.sessions.list({}, 1), clock.waiting]).toEqual([[], 0]);
  });

  test("of the default agent, whose built-in model needs nothing and costs nothing", async () => {
    const { agent, store } = agentFixture({});
    expect(await agent.test(undefined, never)).toMatchObject({
      agent: "default",
      provider: "builtin",
      ok: true,
      costUsd: 0,
      priceKnown: true,
    });
    expect(store.usage.list("2026-01-01")).toEqual([]);
  });

  test("counts against the budget, and is refused when that is used up", async () => {
    const config = { model: priced, agent: { max_cost_per_day: 1 } };
    const { agent } = agentFixture({ config, model: scripted([text("OK")]) });
    expect(await agent.test(undefined, never)).toMatchObject({ ok: true });
    expect(await agent.test(undefined, never)).toMatchObject({ ok: false, error: { code: "COST_LIMIT" } });
  });

  test("says that a price or the tokens are unknown", async () => {
    const unpriced = agentFixture({ config: { model: { provider: "openai" } }, model: scripted([text("OK")]) });
    expect(await unpriced.agent.test(undefined, never)).toMatchObject({ costUsd: undefined, priceKnown: false });
    const uncounted = agentFixture({
      config: { model: priced },
      model: counting({ in: undefined, out: undefined }, [text("OK")]),
    });
    expect(await uncounted.agent.test(undefined, never)).toMatchObject({ costUsd: undefined, priceKnown: true });
  });

  test("of a section that is not complete says what is missing", async () => {
    const { agent } = agentFixture({ config: { model: { provider: "openai", name: "m" } } });
    const error = { code: "CONFIG_INVALID", message: "model.api_key is missing.", hint: expect.any(String) };
    expect(await agent.test(undefined, never)).toMatchObject({ ok: false, error });
  });

  test("of a provider that refuses the key says so once, without repeating the key", async () => {
    let calls = 0;
    await using server = await rawServer((_, response) => {
      calls += 1;
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `bad key ${KEY}`, code: "invalid_api_key" } }));
    });
    const model = { provider: "openai", name: "m", base_url: server.url, api_key: KEY, max_retries: 5 } as const;
    const tested = await agentFixture({ config: { model } }).agent.test(undefined, never);
    expect(tested).toMatchObject({
      ok: false,
      error: { code: "MODEL_REFUSED", hint: "Set a valid key: svc secrets set model.api_key.", said: "bad key ••••••" },
    });
    expect(JSON.stringify(tested)).not.toContain(KEY);
    expect(calls).toBe(1);
  });

  test("that gets no answer ends after a minute", async () => {
    const model = scripted(hang);
    const { agent, clock } = agentFixture({ model });
    const tested = agent.test(undefined, never);
    await until(() => model.asked.length === 1);
    await clock.advance(60_000);
    expect(await tested).toMatchObject({
      ok: false,
      latencyMs: 60_000,
      error: { code: "MODEL_UNREACHABLE", message: "The model did not answer within 60 seconds." },
    });
  });

  test("can be called off, and knows its agents", async () => {
    const { agent } = agentFixture({ model: scripted(hang) });
    const leave = new AbortController();
    const tested = failure(agent.test(undefined, leave.signal));
    leave.abort();
    expect(await tested).toMatchObject({ code: "TURN_CANCELLED" });
    expect(await failure(agent.test("nobody", never))).toMatchObject({ code: "AGENT_UNKNOWN" });
  });
});
