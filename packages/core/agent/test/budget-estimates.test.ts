// Tokens that nobody counted: a limit must hold for them too, while no invented cost is ever shown.
import { describe, expect, test } from "vitest";
import { ask, counting, failure, hang, agentFixture, scripted, text, until } from "./agent-fixture.ts";
import { rawServer } from "./provider-fixture.ts";

const priced = { provider: "openai", name: "m" } as const;
const refused = { code: "COST_LIMIT", status: 429 };

describe("max_cost_per_day can't be dodged", () => {
  test("by stopping each turn while the provider works on it: what it was sent is counted by estimate", async () => {
    const price = { input_per_million: 1_000_000, output_per_million: 0 };
    const config = { model: { ...priced, price }, agent: { max_cost_per_day: 100 } };
    const model = scripted(hang);
    const { agent, store, events } = agentFixture({ config, model });
    const stopped = failure(ask(agent, "x".repeat(4000), { session: "s" }));
    await until(() => model.asked.length === 1);
    await ask(agent, "/stop", { session: "s" });
    await stopped;
    expect(events.at(-1)).toMatchObject({ type: "turn-end", inputTokens: 0, costUsd: undefined });
    expect(store.usage.spentUsd("2026-01-01", "default")).toBeGreaterThan(1000);
    expect(await failure(ask(agent, "again"))).toMatchObject(refused);
    expect(await failure(ask(agentFixture({ config, store, model: scripted() }).agent, "again"))).toMatchObject(
      refused,
    );
  });

  test("by a streamed answer that breaks off: what had come is counted by estimate", async () => {
    const price = { input_per_million: 0, output_per_million: 1_000_000 };
    const config = { model: { ...priced, price, max_retries: 0 }, agent: { max_cost_per_day: 10 } };
    const model = scripted([text("y".repeat(400))]);
    const { doStream } = model;
    model.doStream = async (options) => {
      const { stream } = await doStream(options);
      const cut = new TransformStream({
        transform: (part, controller) => {
          if (part.type !== "finish") controller.enqueue(part);
        },
      });
      return { stream: stream.pipeThrough(cut) };
    };
    const { agent, store } = agentFixture({ config, model });
    expect(await failure(ask(agent, "go", { onEvent: () => {} }))).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(100);
    expect(await failure(ask(agent, "again"))).toMatchObject(refused);
  });

  test("by answers that can't be read: what was sent for them is counted by estimate", async () => {
    await using server = await rawServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end("{ not JSON");
    });
    const price = { input_per_million: 1_000_000, output_per_million: 0 };
    const model = { ...priced, price, base_url: server.url, api_key: "k", max_retries: 0 };
    const { agent, store } = agentFixture({ config: { model, agent: { max_cost_per_day: 10 } } });
    expect(await failure(ask(agent, "x".repeat(400)))).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(store.usage.spentUsd("2026-01-01", "default")).toBeGreaterThan(100);
    expect(await failure(ask(agent, "again"))).toMatchObject(refused);
  });

  test("but a provider that refused the request is not paid for it", async () => {
    const busy = Object.assign(new Error("no"), { statusCode: 400, isRetryable: false });
    const price = { input_per_million: 1, output_per_million: 1 };
    const config = { model: { ...priced, price }, agent: { max_cost_per_day: 1 } };
    const { agent, store } = agentFixture({ config, model: scripted(busy) });
    expect(await failure(ask(agent, "go"))).toMatchObject({ code: "MODEL_REFUSED" });
    expect(store.usage.list("2026-01-01")).toEqual([]);
  });

  test.each([
    ["nothing", { in: undefined, out: undefined }],
    ["half of it", { in: 10, out: undefined }],
    ["nonsense", { in: Number.NaN, out: -1 }],
  ])("by a provider that counts %s: the cost shown stays unknown, the budget takes an estimate", async (_, tokens) => {
    const price = { input_per_million: 1_000_000, output_per_million: 1_000_000 };
    const config = { model: { ...priced, price }, agent: { max_cost_per_day: 20 } };
    const { agent, store } = agentFixture({ config, model: counting(tokens, [text("a".repeat(100))]) });
    expect(await ask(agent, "hello", { session: "s" })).toMatchObject({ costUsd: undefined });
    expect(store.usage.list("2026-01-01")).toMatchObject([{ turns: 1, costUsd: 0, unknownCostTurns: 1 }]);
    expect(store.usage.spentUsd("2026-01-01", "default")).toBeGreaterThan(25);
    expect(await failure(ask(agent, "again"))).toMatchObject(refused);
  });
});
