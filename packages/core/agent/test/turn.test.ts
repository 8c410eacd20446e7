// The turn: tools in a loop, tools that go wrong, answers that are none, ids that servers hand out twice.
import type { LanguageModelV4Content } from "@ai-sdk/provider";
import { defineTool } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { ask, call, failure, agentFixture, read, rolesOf, scripted, text } from "./agent-fixture.ts";

describe("a turn", () => {
  test("goes model, tool, model; the model sees the result; the conversation remembers all of it", async () => {
    const model = scripted([text("let me look"), call("read", { what: "it" })], [text("I saw it")], [text("again")]);
    const { agent, events } = agentFixture({ model });
    const result = await ask(agent, "look", { session: "s" });
    expect(result).toMatchObject({ response: "I saw it", sessionId: "s", inputTokens: 20, outputTokens: 10 });
    expect(model.asked[1]!.prompt.at(-1)).toMatchObject({
      role: "tool",
      content: [{ output: { type: "json", value: { saw: "it" } } }],
    });
    await ask(agent, "and?", { session: "s" });
    expect(rolesOf(model.asked[2])).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    const types = ["turn-start", "tool-call", "tool-result", "turn-end", "turn-start", "turn-end"];
    expect(events.map((event) => event.type)).toEqual(types);
  });

  test("has an id in the order of time, whoever asked: what is kept of turns stands together on disk", async () => {
    const { agent } = agentFixture({ model: scripted([text("1")]) });
    // Of version 7: the time comes first.
    expect((await ask(agent, "a")).turnId).toMatch(/^t-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  });

  test("what goes wrong with a tool is an answer for the model", async () => {
    const boom = defineTool({ ...read, name: "boom", run: () => Promise.reject(new Error("secret detail")) });
    const malformed = { ...call("read", {}, "c3"), input: "{" } as LanguageModelV4Content;
    const model = scripted(
      [call("nope"), call("read", { what: 7 }, "c2"), malformed, call("boom", {}, "c4")],
      [text("sorry")],
    );
    const { agent } = agentFixture({ model, tools: [read, boom] });
    await ask(agent, "go");
    const results = model.asked[1]!.prompt.filter((message) => message.role === "tool").map((message) =>
      JSON.stringify(message.content),
    );
    expect(results[0]).toContain("TOOL_UNKNOWN");
    expect(results[1]).toContain("TOOL_BAD_INPUT");
    expect(results[2]).toContain("not valid JSON");
    expect(results[3]).toContain("TOOL_FAILED");
    expect(results.join("")).not.toContain("secret detail");
  });

  test.each(["7", "null", '"text"', "[1]", "{", ""])(
    "an input of %j goes back to the model as an object",
    async (input) => {
      const model = scripted([{ ...call("read"), input } as LanguageModelV4Content], [text("sorry")]);
      await ask(agentFixture({ model }).agent, "go");
      const answer = model.asked[1]!.prompt[1]!.content[0];
      expect(answer).toEqual({ type: "tool-call", toolCallId: "call-read", toolName: "read", input: {} });
    },
  );

  test("calls with the same id, with none, or with one of an earlier step all run, each with its own result", async () => {
    const model = scripted(
      [call("read", { what: "a" }, "0"), call("read", { what: "b" }, "0"), call("read", { what: "c" }, " ")],
      [call("read", { what: "d" }, "0")],
      [text("done")],
    );
    const { agent, store } = agentFixture({ model });
    const { turnId } = await ask(agent, "go");
    const messages = model.asked[2]!.prompt;
    const calls = messages.flatMap(({ role, content }) =>
      role === "assistant" ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])) : [],
    );
    const results = messages.flatMap(({ role, content }) =>
      role === "tool" ? content.flatMap((part) => (part.type === "tool-result" ? [part] : [])) : [],
    );
    expect(new Set(calls).size).toBe(4);
    expect(calls[0]).toBe("0");
    expect(results.map((part) => part.toolCallId)).toEqual(calls);
    expect(results.map((part) => part.output)).toMatchObject(["a", "b", "c", "d"].map((saw) => ({ value: { saw } })));
    expect(store.toolCalls.statesOf(turnId).map(({ state }) => state)).toEqual(Array(4).fill("finished"));
  });

  test("blank text beside a tool call is not sent back, because some providers refuse it", async () => {
    const model = scripted([text("\n"), call("read")], [text("done")]);
    await ask(agentFixture({ model }).agent, "go");
    expect(model.asked[1]!.prompt[1]!.content).toMatchObject([{ type: "tool-call" }]);
  });

  test("a result that is too long is cut, and says so", async () => {
    const flood = defineTool({ ...read, name: "flood", run: async () => "x".repeat(5000) });
    const model = scripted([call("flood")], [text("much")]);
    await ask(agentFixture({ model, tools: [flood] }).agent, "go");
    expect(JSON.stringify(model.asked[1]!.prompt.at(-1))).toContain("[cut: 4000 more characters]");
  });

  test("all steps used without an answer is an error", async () => {
    const model = scripted(...Array.from({ length: 5 }, (_, n) => [call("read", {}, `c${n}`)]));
    expect(await failure(ask(agentFixture({ model }).agent, "go"))).toMatchObject({ code: "TURN_STEP_LIMIT" });
  });

  test("an empty answer is an error, not an empty reply", async () => {
    expect(await failure(ask(agentFixture({ model: scripted([text("  ")]) }).agent, "go"))).toMatchObject({
      code: "TURN_FAILED",
    });
  });
});
