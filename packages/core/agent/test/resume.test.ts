// A turn that is taken up after a kill: an acting tool that runs again, a result the model did not see, tokens paid twice.
import { defineTool, type Json, type Tool } from "@svc/contract";
import type { Store } from "@svc/store";
import { describe, expect, test } from "vitest";
import type { TurnRequest } from "../src/index.ts";
import {
  act,
  ask,
  call,
  client,
  counting,
  failure,
  agentFixture,
  type AgentFixtureOptions,
  read,
  rolesOf,
  scripted,
  text,
} from "./agent-fixture.ts";

const resumable = {
  turnId: "t-1",
  resumable: true,
  session: "s",
  owner: client,
} as const satisfies Partial<TurnRequest>;
const journal = (store: Store) =>
  Object.fromEntries(store.toolCalls.of("t-1").map(({ callId, state }) => [callId, state]));

/** A tool that counts its runs. */
function counted(tool: Tool, output: Json = "done") {
  const made = { ...tool, ran: 0, run: async () => ((made.ran += 1), output) };
  return made;
}

/** The model died in the middle; what was committed is left. */
async function died(options: AgentFixtureOptions, words = "go", more: object = {}) {
  const made = agentFixture(options);
  await failure(ask(made.agent, words, { ...resumable, ...more }));
  return made;
}

/** What `recover` makes of the journal when the process was killed amid a call. */
const interrupt = (store: Store, callId: string) =>
  store.write(() => store.toolCalls.finish("t-1", callId, "interrupted", null));

describe("a turn that is taken up", () => {
  test("goes on behind what it has: results word for word, no tool run twice, tokens of all attempts once", async () => {
    const acting = counted(act, { deep: ["ü", 1.5, null] });
    const before = await died({
      model: scripted([text("first"), call("act")], new Error("down")),
      tools: [acting, read],
    });
    const model = scripted([text("all done")]);
    const { agent } = agentFixture({ model, tools: [acting, read], store: before.store });
    const result = await ask(agent, "other words", resumable);
    expect(result).toMatchObject({ response: "all done", turnId: "t-1", inputTokens: 20, outputTokens: 10 });
    expect(acting.ran).toBe(1);
    expect(rolesOf(model.asked[0])).toEqual(["user", "assistant", "tool"]);
    expect(model.asked[0]!.prompt[0]!.content).toEqual([{ type: "text", text: "go" }]);
    expect(model.asked[0]!.prompt[2]!.content[0]).toMatchObject({
      toolCallId: "call-act",
      output: { type: "json", value: { deep: ["ü", 1.5, null] } },
    });
    expect(before.store.steps.of("t-1")).toEqual([]);
    expect(before.store.sessions.list({}, 2)).toMatchObject([{ turns: 1 }]);
  });

  test("tells of an acting call that was interrupted, makes a reading one again, and one that never started for the first time", async () => {
    const [acting, reading] = [counted(act), counted(read, "seen")];
    const tools = [acting, reading];
    const calls = [call("act"), call("read"), call("act", {}, "late")];
    const before = await died({ model: scripted(calls, new Error("down")), tools });
    const { store } = before;
    await interrupt(store, "call-act");
    await interrupt(store, "call-read");
    // As if the process had been killed before the third.
    const of = store.toolCalls.of.bind(store.toolCalls);
    store.toolCalls.of = (turn) => of(turn).filter(({ callId }) => callId !== "late");
    const model = scripted([text("I see")]);
    await ask(agentFixture({ model, tools, store }).agent, "go", resumable);
    expect([acting.ran, reading.ran]).toEqual([3, 2]);
    expect(model.asked[0]!.prompt.flatMap(({ role, content }) => (role === "tool" ? content : []))).toMatchObject([
      { toolCallId: "call-act", output: { type: "error-text", value: "interrupted, outcome unknown" } },
      { toolCallId: "call-read", output: { type: "text", value: "seen" } },
      { toolCallId: "late", output: { type: "text", value: "done" } },
    ]);
    store.toolCalls.of = of;
    expect(journal(store)).toEqual({ "call-act": "interrupted", "call-read": "finished", late: "finished" });
  });

  test("asks a tool that can tell: what its cut-off call came to is told, and one that did nothing is made again", async () => {
    const told = new Map<string, Json>([["call-act", { kept: 1 }]]);
    const acting = Object.assign(counted(act), {
      recall: (turnId: string, callId: string) =>
        turnId === "t-1" && told.has(callId) ? { output: told.get(callId)! } : undefined,
    });
    const calls = [call("act"), call("act", {}, "late")];
    const before = await died({ model: scripted(calls, new Error("down")), tools: [acting] });
    const { store } = before;
    for (const callId of ["call-act", "late"]) await interrupt(store, callId);
    const model = scripted([text("I see")]);
    // Whoever may not act any more is told of what was done, and does nothing more.
    await ask(agentFixture({ model, tools: [acting], store, verdict: "refuse" }).agent, "go", resumable);
    expect(acting.ran).toBe(2);
    expect(model.asked[0]!.prompt.flatMap(({ role, content }) => (role === "tool" ? content : []))).toMatchObject([
      { toolCallId: "call-act", output: { type: "json", value: { kept: 1 } } },
      { toolCallId: "late", output: { type: "error-text", value: expect.stringContaining("TOOL_REFUSED") as string } },
    ]);
    expect(journal(store)).toEqual({ "call-act": "interrupted", late: "interrupted" });
  });

  test("tells why a call failed in the words of the first time", async () => {
    const boom = defineTool({ ...act, run: () => Promise.reject(new Error("detail")) });
    const before = await died({ model: scripted([call("act")], new Error("down")), tools: [boom] });
    const model = scripted([text("sorry")]);
    await ask(agentFixture({ model, tools: [counted(act)], store: before.store }).agent, "go", resumable);
    expect(model.asked[0]!.prompt[2]!.content[0]).toMatchObject({
      output: { type: "error-text", value: "TOOL_FAILED: act failed unexpectedly." },
    });
  });

  test("asks the policy of now about a call that never started", async () => {
    const acting = counted(act);
    const before = await died({
      model: scripted([call("read"), call("act")], new Error("down")),
      tools: [read, acting],
    });
    const of = before.store.toolCalls.of.bind(before.store.toolCalls);
    before.store.toolCalls.of = (turn) => of(turn).filter(({ tool }) => tool !== "act");
    const model = scripted([text("ok")]);
    await ask(
      agentFixture({ model, tools: [read, acting], store: before.store, verdict: "refuse" }).agent,
      "go",
      resumable,
    );
    expect(acting.ran).toBe(1);
    expect(JSON.stringify(model.asked[0]!.prompt.at(-1))).toContain("Locked down.");
  });

  test("does not make a call that was refused in an earlier step, whatever the policy says now", async () => {
    const acting = counted(act);
    const model = scripted([call("act"), call("read")], [call("read", {}, "again")], new Error("down"));
    const before = await died({ model, tools: [read, acting], verdict: "refuse" });
    const next = scripted([text("ok")]);
    await ask(agentFixture({ model: next, tools: [read, acting], store: before.store }).agent, "go", resumable);
    expect(acting.ran).toBe(0);
    expect(rolesOf(next.asked[0])).toEqual(["user", "assistant", "tool", "tool", "assistant", "tool"]);
    expect(JSON.stringify(next.asked[0]!.prompt[2])).toContain("Locked down.");
  });

  test("does not make a call of an input that was no JSON with an empty one", async () => {
    const acting = counted(act);
    const bad = { ...call("act"), input: "{" } as ReturnType<typeof call>;
    const before = await died({ model: scripted([bad, call("read")], new Error("down")), tools: [read, acting] });
    const model = scripted([text("sorry")]);
    await ask(agentFixture({ model, tools: [read, acting], store: before.store }).agent, "go", resumable);
    expect(acting.ran).toBe(0);
    expect(JSON.stringify(model.asked[0]!.prompt[2])).toContain("not valid JSON");
  });

  test("sends reasoning back with its signature", async () => {
    const reasoning = { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "sig" } } } as const;
    const before = await died({ model: scripted([reasoning, call("read")], new Error("down")) });
    const model = scripted([text("ok")]);
    await ask(agentFixture({ model, store: before.store }).agent, "go", resumable);
    expect(model.asked[0]!.prompt[1]!.content[0]).toEqual({
      type: "reasoning",
      text: "hm",
      providerOptions: { anthropic: { signature: "sig" } },
    });
  });

  test("has the steps left that the others did not use", async () => {
    const config = { agent: { max_steps: 2 } };
    const before = await died({ model: scripted([call("read")], new Error("down")), config });
    const model = scripted([call("read", {}, "more")], [text("never")]);
    const { agent } = agentFixture({ model, config, store: before.store });
    expect(await failure(ask(agent, "go", resumable))).toMatchObject({ code: "TURN_STEP_LIMIT" });
    expect(await failure(ask(agent, "go", resumable))).toMatchObject({ code: "TURN_STEP_LIMIT" });
    expect(model.asked).toHaveLength(1);
  });

  test("takes its question as it was, when that was kept before", async () => {
    const { agent, store } = agentFixture({ model: scripted([text("ok")]) });
    const { keepQuestion } = await import("../src/turn/turn-store.ts");
    await store.write(() => keepQuestion(store, "t-1", "see [IMAGE:a.jpg]"));
    await ask(agent, "see (image)", resumable);
    const [session] = agent.sessions.list({}, 1);
    expect(agent.sessions.messages(session!.id, { limit: 5 }).messages[0]).toMatchObject({ text: "see [IMAGE:a.jpg]" });
    expect(store.steps.of("t-1")).toEqual([]);
  });
});

describe("money", () => {
  const price = { input_per_million: 1e6, output_per_million: 1e6 };
  const config = { model: { provider: "openai", name: "m", price } } as const;

  test("of a step is on disk with it, and never counted again", async () => {
    const before = await died({ model: scripted([call("read")], new Error("down")), config });
    const used = () => before.store.usage.list("2026-01-01");
    expect(used()).toMatchObject([{ turns: 0, inputTokens: 10, outputTokens: 5, costUsd: 15 }]);
    const { agent, store } = agentFixture({ model: scripted([text("ok")]), config, store: before.store });
    expect(await ask(agent, "go", resumable)).toMatchObject({ costUsd: 30 });
    expect(used()).toMatchObject([{ turns: 1, inputTokens: 20, outputTokens: 10, costUsd: 30, unknownCostTurns: 0 }]);
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(30);
  });

  test("of an attempt counts against the limit while the turn waits for its next one", async () => {
    const limited = { ...config, agent: { max_cost_per_day: 15 } };
    const { agent } = await died({ model: scripted([call("read")], new Error("down")), config: limited });
    expect(await failure(ask(agent, "another"))).toMatchObject({ code: "COST_LIMIT" });
    expect(await failure(ask(agent, "go", resumable))).toMatchObject({ code: "COST_LIMIT" });
  });

  test("of tokens that nobody counted stays unknown over a restart", async () => {
    const uncounted = counting({ in: 10, out: undefined }, [call("read")], new Error("down"));
    const before = await died({ model: uncounted, config });
    const { agent, store } = agentFixture({ model: scripted([text("ok")]), config, store: before.store });
    expect(await ask(agent, "go", resumable)).toMatchObject({ costUsd: undefined, inputTokens: 20 });
    expect(store.usage.list("2026-01-01")).toMatchObject([{ turns: 1, unknownCostTurns: 1, costUsd: 0 }]);
    expect(store.usage.spentUsd("2026-01-01", "default")).toBeGreaterThan(25);
  });
});

describe("a turn that is given up", () => {
  const abandoned = { turnId: "t-1", owner: client, session: "s" };

  test("stays in the conversation with what it did, and leaves no steps", async () => {
    const before = await died({ model: scripted([call("act"), call("read")], new Error("down")) });
    const model = scripted([text("I see")]);
    const { agent, store } = agentFixture({ model, store: before.store });
    let isAlongside = false;
    await agent.abandon({ ...abandoned, inTransaction: () => void (isAlongside = true) });
    expect([isAlongside, store.steps.of("t-1")]).toEqual([true, []]);
    await ask(agent, "what happened?", { session: "s" });
    expect(rolesOf(model.asked[0])).toEqual(["user", "assistant", "tool", "tool", "assistant", "user"]);
    expect(JSON.stringify(model.asked[0]!.prompt[4])).toContain("was stopped before it was complete");
  });

  test("leaves nothing when nothing acted", async () => {
    const { agent, store } = await died({ model: scripted([call("read")], new Error("down")) });
    await agent.abandon({ ...abandoned, inTransaction: () => {} });
    expect([store.steps.of("t-1"), store.sessions.list({}, 1)]).toEqual([[], []]);
  });

  test("whose agent is gone is given up all the same", async () => {
    const { agent, store, set } = await died(
      { model: scripted([call("act")], new Error("down")), agents: { clerk: {} } },
      "go",
      { agent: "clerk" },
    );
    agent.reconfigure(set({}));
    expect(await failure(ask(agent, "go", { ...resumable, agent: "clerk" }))).toMatchObject({ code: "AGENT_UNKNOWN" });
    await agent.abandon({ ...abandoned, agent: "clerk", inTransaction: () => {} });
    expect(store.sessions.list({}, 1)).toMatchObject([{ turns: 1 }]);
  });

  test("and is run anew gets other ids for its calls, so that none is taken for an old one", async () => {
    const acting = counted(act);
    const before = await died({ model: scripted([call("act", {}, "0")], new Error("down")), tools: [acting] });
    const model = scripted([call("act", {}, "0")], [text("ok")]);
    const { agent, store } = agentFixture({ model, tools: [acting], store: before.store });
    await agent.abandon({ ...abandoned, inTransaction: () => {} });
    await ask(agent, "go", resumable);
    expect(acting.ran).toBe(2);
    expect(store.toolCalls.of("t-1").map(({ state }) => state)).toEqual(["finished", "finished"]);
  });

  test("can't be when the disk refuses, and nothing has changed then", async () => {
    const { agent, store } = await died({ model: scripted([call("act")], new Error("down")) });
    const inTransaction = (): never => {
      throw new Error("disk");
    };
    expect(await failure(agent.abandon({ ...abandoned, inTransaction }))).toMatchObject({ code: "STORE_FAILED" });
    expect([store.steps.of("t-1").length, store.sessions.list({}, 1)]).toEqual([2, []]);
  });
});

test("a turn that can't be taken up writes its message, its call's beginning and end, and its own end; no step stays", async () => {
  const model = scripted([call("act")], [text("done")]);
  const { store } = agentFixture({});
  let writes = 0;
  const write: Store["write"] = (change) => ((writes += 1), store.write(change));
  const { agent } = agentFixture({ model, store: { ...store, write } });
  const { turnId } = await ask(agent, "go", { session: "s" });
  expect(writes).toBe(4);
  expect([store.steps.of(turnId), store.openTurns.all()]).toEqual([[], []]);
});
