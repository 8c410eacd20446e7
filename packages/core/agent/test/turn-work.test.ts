// What observers are told of a turn: what is part of it, what it cost, and whose its lines of the log are.
import { currentScope, inScope } from "@svc/runtime";
import { describe, expect, test } from "vitest";
import { ask, call, counting, failure, gate, agentFixture, read, scripted, text } from "./agent-fixture.ts";
import { watchedAgent } from "./watched-agent.ts";

const PRICED = { provider: "openai", name: "m-1", price: { input_per_million: 1e6, output_per_million: 1e6 } } as const;

describe("a turn", () => {
  test("has its calls of model and tools in it, each with what it was, what it cost and how it ended", async () => {
    const model = scripted([call("read", { what: "x" }), call("act")], [text("done")]);
    const { agent, recorded, clock } = watchedAgent({ model, config: { model: PRICED } });
    const { turnId, sessionId } = await ask(agent, "go", { session: "s" });
    expect(recorded.tree()).toEqual(["turn", "  model-call", "  tool-call", "  tool-call", "  model-call"]);
    const ended = { endedAtMs: clock.now(), startedAtMs: clock.now() };
    expect(recorded.of("turn")).toMatchObject([
      {
        ...ended,
        parent: undefined,
        facts: { turnId, sessionId, agent: "default", model: "m-1", channel: undefined },
        result: { error: undefined, inputTokens: 20, outputTokens: 10, costUsd: 30 },
      },
    ]);
    const asked = { provider: "openai", model: "m-1", agent: "default" };
    const cost = { error: undefined, inputTokens: 10, outputTokens: 5, costUsd: 15 };
    expect(recorded.of("model-call")).toMatchObject([
      { facts: { ...asked, step: 0 }, result: cost },
      { facts: { ...asked, step: 1 }, result: cost },
    ]);
    expect(recorded.of("tool-call")).toMatchObject([
      { facts: { tool: "read", callId: "call-read" }, result: { error: undefined } },
      { facts: { tool: "act", callId: "call-act" }, result: { error: undefined } },
    ]);
    expect(recorded.works.flatMap(({ content }) => content)).toEqual([]);
  });

  test("is part of what asked for it, and is told where its message came from", async () => {
    const { agent, tracer, recorded } = watchedAgent({ model: scripted([text("hi")]) });
    const request = tracer.begin("request", { method: "POST", route: "/webhook" });
    await request.during(() => ask(agent, "go", { channel: "chat" }));
    expect(recorded.of("turn")[0]).toMatchObject({ parent: request.traceparent, facts: { channel: "chat" } });
  });

  test("says whose its lines are: its own, of the request that asked for it, and of nobody else's", async () => {
    const seen: unknown[] = [];
    const look = { ...read, run: async () => (seen.push(currentScope()), "seen") };
    const hold = gate();
    const model = scripted(
      async () => (await hold.opened, [call("read")]),
      [text("one")],
      [call("read")],
      [text("two")],
    );
    const { agent } = agentFixture({ model, tools: [look] });
    const asked = ["r-1", "r-2"].map((request) => inScope({ request }, () => ask(agent, "go", { session: "s" })));
    hold.open();
    const [one, two] = await Promise.all(asked);
    expect(seen).toEqual([
      { request: "r-1", turn: one!.turnId },
      { request: "r-2", turn: two!.turnId },
    ]);
    expect(currentScope()).toEqual({});
  });

  test("that is taken up has used what it used itself", async () => {
    const resumable = { turnId: "t-1", resumable: true, session: "s" };
    const model = scripted([call("act")], new Error("down"));
    const { agent, recorded, store, clock, tracer } = watchedAgent({ model, config: { model: PRICED } });
    expect(await failure(ask(agent, "go", resumable))).toMatchObject({ code: "MODEL_UNREACHABLE" });
    const next = agentFixture({
      model: scripted([text("done")]),
      config: { model: PRICED },
      store,
      clock,
      tracer,
    });
    expect(await ask(next.agent, "go", resumable)).toMatchObject({ inputTokens: 20, costUsd: 30 });
    expect(recorded.of("turn").map(({ result }) => result)).toEqual([
      { error: "MODEL_UNREACHABLE", inputTokens: 10, outputTokens: 5, costUsd: 15 },
      { error: undefined, inputTokens: 10, outputTokens: 5, costUsd: 15 },
    ]);
  });

  test("of an uncounted call costs nobody knows what", async () => {
    const model = counting({ in: undefined, out: 3 }, [text("hi")]);
    const { agent, recorded } = watchedAgent({ model, config: { model: PRICED } });
    await ask(agent, "go");
    const unknown = { error: undefined, inputTokens: 0, outputTokens: 3, costUsd: undefined };
    expect(recorded.works.map(({ result }) => result)).toEqual([unknown, unknown]);
  });
});
