// The tools keep what every tool keeps. A child gets no tool that its parent has not, and is seen by its own client only.
import type { ClientId } from "@svc/contract";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { afterAll, expect, test } from "vitest";
import { toolsOf } from "../src/agents.ts";
import { OWNER, poolFixture } from "./pool-fixture.ts";

const fixture = poolFixture({ max_agents: 200 });
await fixture.start();
afterAll(() => fixture.stop());
const { pool, context } = fixture;
const tools = toolsOf(pool, context.agents, context.config);
const tool = (name: string) => tools.find((found) => found.name === name)!;
const owned = { ...fakeToolContext(), clientId: OWNER };

toolConformance(tool("create_agent"), {
  input: { prompt: "look around", program: "answers" },
  badInputs: [{}, { prompt: "" }, { prompt: "x", title: "" }, { prompt: "x", depth: 1 }, { prompt: "x", tools: "all" }],
  refused: [{ input: { prompt: "x", program: "nothing" }, code: "TOOL_BAD_INPUT" }],
});

test("a program and a detached child need an approval", () => {
  const { approval } = tool("create_agent");
  const of = (input: object) => (approval as (input: unknown) => string)(input);
  expect(of({ program: "svc", detached: false })).toBe("auto");
  expect(of({ program: "svc", detached: true })).toBe("ask");
  expect(of({ program: "answers", detached: false })).toBe("ask");
});

test("a child gets no tool that its parent has not", async () => {
  const agents = {
    ...context.agents,
    callerOf: () => ({ rights: { agent: "main", tools: ["file_read"] }, clientId: OWNER, turnId: "turn-9" }),
  };
  const [create] = toolsOf(pool, agents, context.config);
  const of = async (input: object) => {
    const { id } = (await create!.run({ prompt: "x", program: "answers", detached: false, ...input }, owned)) as {
      readonly id: string;
    };
    return pool.get(id).record.rights;
  };
  expect(await of({ tools: ["file_read", "shell"] })).toEqual({ agent: "main", tools: ["file_read"] });
  expect(await of({})).toEqual({ agent: "main", tools: ["file_read"] });
  expect(await of({ tools: [] })).toEqual({ agent: "main", tools: [] });
});

test("a child is waited for, asked again, looked at and listed", async () => {
  const { id } = await fixture.make("answers");
  const input = { id, timeout_secs: 60 };
  expect(await tool("wait_for_agent").run(input, owned)).toMatchObject({ status: "idle", result: "you said: do it" });
  await tool("send_agent_prompt").run({ id, prompt: "more" }, owned);
  expect(await tool("wait_for_agent").run(input, owned)).toMatchObject({ result: "you said: more", prompts: 2 });
  const activity = await tool("get_agent_activity").run({ id, since: 0 }, owned);
  expect(activity).toMatchObject({ agent: { id }, events: expect.arrayContaining([]) });
  expect(await tool("list_agents").run({}, owned)).toContainEqual(expect.objectContaining({ id, status: "idle" }));
});

test("another client's child is as good as none", async () => {
  const { id } = await fixture.make("answers", { owner: "client-2" as ClientId });
  for (const name of ["wait_for_agent", "send_agent_prompt", "get_agent_activity"]) {
    const call = tool(name).run({ id, prompt: "x", timeout_secs: 1, since: 0 }, owned);
    await expect(call).rejects.toMatchObject({ code: "CHILD_AGENT_UNKNOWN" });
  }
  expect(JSON.stringify(await tool("list_agents").run({}, owned))).not.toContain(id);
});
