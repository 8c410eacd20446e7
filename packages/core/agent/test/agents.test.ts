// One agent answering with the instructions, the model or the tools of another; a name that nobody has.
import { describe, expect, test } from "vitest";
import type { ModelOpener } from "../src/models/agent-models.ts";
import { act, ask, call, failure, agentFixture, read, scripted, type Scripted, text } from "./agent-fixture.ts";

/** Each agent's model by the name in its config. */
const byName =
  (models: Readonly<Record<string, Scripted>>): ModelOpener =>
  ({ name = "" }) =>
    models[name]!;

describe("several agents", () => {
  test("each answers with its own model, instructions and tools, and says who it is", async () => {
    const models = { main: scripted([text("main here")]), clerk: scripted([call("act")], [text("clerk here")]) };
    const { agent, events } = agentFixture({
      model: byName(models),
      config: { model: { name: "main" }, agent: { instructions: "You are main." } },
      agents: { clerk: { model: { name: "clerk" }, instructions: "You are the clerk.", tools: [act] } },
    });
    expect(await ask(agent, "hello")).toMatchObject({ agent: "default", response: "main here", model: "builtin" });
    expect(await ask(agent, "hello", { agent: "clerk" })).toMatchObject({ agent: "clerk", response: "clerk here" });
    expect(models.main.asked[0]!.prompt[0]).toMatchObject({ content: "You are main." });
    expect(models.main.asked[0]!.tools).toHaveLength(2);
    expect(models.clerk.asked[0]!.prompt[0]).toMatchObject({ content: "You are the clerk." });
    expect(models.clerk.asked[0]!.tools).toMatchObject([{ name: "act" }]);
    const named = events.flatMap((event) => ("agent" in event ? [`${event.type} ${event.agent}`] : []));
    expect(named).toEqual(["turn-start default", "turn-end default", "turn-start clerk", "turn-end clerk"]);
  });

  test("adds what features say now to the system prompt, asked once a turn", async () => {
    const models = { clerk: scripted([call("act")], [text("done")], [text("again")]) };
    let asked = 0;
    const promptContext = (): string => `Connected devices: ${(asked += 1)}`;
    const { agent } = agentFixture({
      model: byName(models),
      agents: { clerk: { model: { name: "clerk" }, instructions: "You are the clerk.", tools: [act], promptContext } },
    });
    await ask(agent, "go", { agent: "clerk" });
    await ask(agent, "go", { agent: "clerk" });
    const systems = models.clerk.asked.map(({ prompt }) => (prompt[0] as { content: string }).content);
    const said = (turn: number): string => `You are the clerk.\n\nConnected devices: ${turn}`;
    expect(systems).toEqual([said(1), said(1), said(2)]);
  });

  test("a tool that only another agent has is unknown", async () => {
    const models = { clerk: scripted([call("read")], [text("sorry")]) };
    const { agent } = agentFixture({
      model: byName(models),
      tools: [read],
      agents: { clerk: { model: { name: "clerk" }, tools: [act] } },
    });
    await ask(agent, "go", { agent: "clerk" });
    expect(JSON.stringify(models.clerk.asked[1]!.prompt.at(-1))).toContain("TOOL_UNKNOWN");
  });

  test("calls are journalled under the agent that made them", async () => {
    const { agent, store } = agentFixture({
      model: scripted([call("act")], [text("done")], [call("act")], [text("done")]),
      agents: { clerk: {} },
    });
    await ask(agent, "go");
    await ask(agent, "go", { agent: "clerk" });
    expect([
      store.toolCalls.actionsSince("default", 0).length,
      store.toolCalls.actionsSince("clerk", 0).length,
    ]).toEqual([1, 1]);
  });

  test("a name that nobody has is an error, and the key is not used up", async () => {
    const { agent, store, events } = agentFixture({ model: scripted() });
    const claim = { scope: "client", key: "k" };
    store.idempotency.claim(claim);
    const error = await failure(ask(agent, "go", { agent: "nobody", claim }));
    expect(error).toMatchObject({ code: "AGENT_UNKNOWN", status: 404 });
    expect(error.message).not.toContain("nobody");
    expect(store.idempotency.claim(claim)).toBe("new");
    expect(events).toEqual([]);
  });
});
