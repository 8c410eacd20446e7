// A step of a procedure that calls a tool nobody gave it, acts twice on one yes, or lifts with it what the policy forbids.
import { describe, expect, test } from "vitest";
import type { Verdict } from "../src/policy/index.ts";
import type { ToolQuestion } from "../src/index.ts";
import { act, ask, call, client, failure, agentFixture, read, scripted, text } from "./agent-fixture.ts";

const resumable = { turnId: "t-1", resumable: true, session: "s", owner: client } as const;
const results = (model: ReturnType<typeof scripted>) =>
  model.asked
    .at(-1)!
    .prompt.flatMap(({ role, content }) => (role === "tool" ? content : []))
    .map((part) => JSON.stringify(part.type === "tool-result" && "value" in part.output ? part.output.value : ""));

function counted() {
  const tool = { ...act, ran: 0, run: async () => ((tool.ran += 1), "done") };
  return tool;
}

describe("a turn with only some of the tools", () => {
  test("is offered those, and is refused any other, whatever the model calls", async () => {
    const acting = counted();
    const model = scripted([call("act"), call("read")], [text("ok")]);
    const { agent } = agentFixture({ model, tools: [read, acting] });
    await ask(agent, "go", { tools: ["read"] });
    expect(model.asked[0]!.tools?.map(({ name }) => name)).toEqual(["read"]);
    expect(results(model)).toEqual([
      expect.stringContaining("TOOL_REFUSED: This turn does not have this tool; it has: read."),
      expect.stringContaining("nothing"),
    ]);
    expect(acting.ran).toBe(0);
  });

  test("has none when none is named", async () => {
    const model = scripted([call("read")], [text("ok")]);
    const { agent } = agentFixture({ model });
    await ask(agent, "go", { tools: [] });
    expect(model.asked[0]!.tools).toBeUndefined();
    expect(results(model)).toEqual([expect.stringContaining("it has none")]);
  });

  test("that its agent does not have goes on without them, and the log names them", async () => {
    const model = scripted([call("shell")], [text("ok")]);
    const { agent, log } = agentFixture({ model });
    await ask(agent, "go", { tools: ["shell", "read"] });
    expect(model.asked[0]!.tools?.map(({ name }) => name)).toEqual(["read"]);
    expect(results(model)).toEqual([expect.stringContaining("TOOL_UNKNOWN")]);
    expect(log.text()).toContain("shell");
    expect(log.text()).not.toContain("read");
  });

  test("has the tool that another one of them needs, lent to a child agent too", async () => {
    const model = scripted([call("act"), call("read")], [text("ok")], [text("ok")]);
    const made = agentFixture({ model });
    const set = made.set({});
    Object.assign(set.profiles.get("default")!, { toolPairs: [{ tool: "read", beside: "act" }] });
    made.agent.reconfigure(set);
    await ask(made.agent, "go", { tools: ["act"] });
    expect(model.asked[0]!.tools?.map(({ name }) => name).toSorted()).toEqual(["act", "read"]);
    const loan = made.agent.lend({ agent: "default", tools: ["act"] }, { turnId: "t-2", clientId: client });
    const signal = new AbortController().signal;
    await loan.askModel([{ role: "user", content: [{ type: "text", text: "go" }] }], signal);
    expect(
      model.asked
        .at(-1)!
        .tools?.map(({ name }) => name)
        .toSorted(),
    ).toEqual(["act", "read"]);
    expect(await loan.callTool({ callId: "c", tool: "read", input: "{}" }, signal)).toMatchObject({ ok: true });
    expect(await loan.callTool({ callId: "d", tool: "shell", input: "{}" }, signal)).toMatchObject({ ok: false });
  });

  test("has what a reload gives its tools, and no more than it named", async () => {
    const locked = agentFixture({}).set({ verdict: "refuse" });
    const model = scripted(async () => {
      made.agent.reconfigure(locked);
      return [call("act")];
    }, [text("ok")]);
    const made = agentFixture({ model });
    await ask(made.agent, "go", { tools: ["act"] });
    expect(results(model)).toEqual([expect.stringContaining("Locked down.")]);
  });
});

describe("a tool that was allowed beforehand", () => {
  const nobody = { granted: ["act"] } as const;

  test("runs once without anybody being asked, and is an action of the policy", async () => {
    const acting = counted();
    const model = scripted([call("act", {}, "a"), call("act", {}, "b")], [text("ok")]);
    const made = agentFixture({ model, tools: [acting], verdict: "ask" });
    const recorded: string[] = [];
    const set = made.set({ tools: [acting], verdict: "ask" });
    const { environment } = set.profiles.get("default")!;
    Object.assign(environment.policy, { recordAction: (tool: { name: string }) => recorded.push(tool.name) });
    made.agent.reconfigure(set);
    await ask(made.agent, "go", nobody);
    expect([acting.ran, recorded]).toEqual([1, ["act"]]);
    expect(results(model)).toEqual(['"done"', expect.stringContaining("Nobody can be asked here")]);
  });

  test("is asked about the second time", async () => {
    const model = scripted([call("act", {}, "a"), call("act", {}, "b")], [text("ok")]);
    const { agent } = agentFixture({ model, verdict: "ask" });
    const asked: string[] = [];
    await ask(agent, "go", {
      ...nobody,
      ask: async ({ callId }: ToolQuestion) => (asked.push(callId), { approved: true }),
    });
    expect(asked).toEqual(["b"]);
    expect(results(model)).toEqual(['"done"', '"done"']);
  });

  test("once is once over all attempts of the turn", async () => {
    const acting = counted();
    const first = agentFixture({
      model: scripted([call("act", {}, "a")], new Error("down")),
      tools: [acting],
      verdict: "ask",
    });
    await failure(ask(first.agent, "go", { ...nobody, ...resumable }));
    const model = scripted([call("act", {}, "b")], [text("ok")]);
    const next = agentFixture({ model, tools: [acting], verdict: "ask", store: first.store });
    await ask(next.agent, "go", { ...nobody, ...resumable });
    expect(acting.ran).toBe(1);
    expect(results(model)).toEqual(['"done"', expect.stringContaining("Nobody can be asked here")]);
  });

  test("that was cut off in the middle is not made again, and has used it up", async () => {
    const acting = counted();
    const first = agentFixture({
      model: scripted([call("act", {}, "a")], new Error("down")),
      tools: [acting],
      verdict: "ask",
    });
    await failure(ask(first.agent, "go", { ...nobody, ...resumable }));
    await first.store.write(() => first.store.toolCalls.finish("t-1", "a", "interrupted", null));
    const model = scripted([call("act", {}, "b")], [text("ok")]);
    const next = agentFixture({ model, tools: [acting], verdict: "ask", store: first.store });
    await ask(next.agent, "go", { ...nobody, ...resumable });
    expect(acting.ran).toBe(1);
    expect(results(model)[0]).toContain("interrupted");
  });

  test("that can tell that it did nothing is made again by the same yes", async () => {
    const acting = Object.assign(counted(), { recall: () => undefined });
    const first = agentFixture({
      model: scripted([call("act", {}, "a")], new Error("down")),
      tools: [acting],
      verdict: "ask",
    });
    await failure(ask(first.agent, "go", { ...nobody, ...resumable }));
    await first.store.write(() => first.store.toolCalls.finish("t-1", "a", "interrupted", null));
    const model = scripted([text("ok")]);
    const next = agentFixture({ model, tools: [acting], verdict: "ask", store: first.store });
    await ask(next.agent, "go", { ...nobody, ...resumable });
    expect(results(model)).toEqual(['"done"']);
  });

  test("stays refused where the policy refuses it, or the turn does not have it", async () => {
    const acting = counted();
    const refused = scripted([call("act")], [text("ok")]);
    await ask(agentFixture({ model: refused, tools: [acting], verdict: "refuse" }).agent, "go", nobody);
    const missing = scripted([call("act")], [text("ok")]);
    await ask(agentFixture({ model: missing, tools: [acting], verdict: "ask" }).agent, "go", {
      ...nobody,
      tools: ["read"],
    });
    expect([results(refused)[0], results(missing)[0]]).toEqual([
      expect.stringContaining("Locked down."),
      expect.stringContaining("TOOL_REFUSED"),
    ]);
    expect(acting.ran).toBe(0);
  });

  test("that the policy allows anyway uses nothing up", async () => {
    const model = scripted([call("act", {}, "a"), call("act", {}, "b")], [text("ok")]);
    const made = agentFixture({ model });
    const set = made.set({});
    const verdicts: Verdict[] = [{ verdict: "allow" }, { verdict: "ask", reason: "Acting tools wait." }];
    Object.assign(set.profiles.get("default")!.environment.policy, { judge: () => verdicts.shift() });
    made.agent.reconfigure(set);
    await ask(made.agent, "go", nobody);
    expect([results(model), verdicts]).toEqual([['"done"', '"done"'], []]);
  });
});
