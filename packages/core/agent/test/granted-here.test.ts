// What a person allowed for the rest of a conversation: for the one who was answered, and in a group for nobody else.
import * as v from "valibot";
import { type ClientId, defineTool } from "@svc/contract";
import { expect, test } from "vitest";
import { approvalScopeOf } from "../src/policy/approval-scope.ts";
import { ask, call, agentFixture, scripted, text } from "./agent-fixture.ts";

const owner = "cl-1" as ClientId;
const send = defineTool({
  name: "send",
  description: "",
  input: v.strictObject({ what: v.string() }),
  approval: "ask",
  lasting: {},
  run: async () => "sent",
});
const key = approvalScopeOf(send, { what: "it" }, { agent: "default", workspace: "/", forbiddenPaths: [] })
  .conversation!.key;

/** How often a person is asked when `more` says who speaks where; the answer is always no. */
async function asked(more: object, input: object = { what: "it" }): Promise<number> {
  let times = 0;
  const model = scripted([{ ...call("send"), input: JSON.stringify(input) } as never], [text("so")]);
  const { agent, store } = agentFixture({
    model,
    tools: [send],
    verdict: "ask",
    ask: async () => {
      times += 1;
      return { approved: false };
    },
  });
  const place = { owner, name: "group", sender: "alice", agent: "default" };
  await store.write(() => store.grants.add({ ...place, key, text: "send", approval: 1, atMs: 0 }));
  await ask(agent, "send it", { clientId: owner, owner, session: "group", ...more });
  return times;
}

test("holds for the one who was answered", async () => {
  expect(await asked({ sender: "alice" })).toBe(0);
});

test.each([
  ["another one who speaks in the group", { sender: "bob" }],
  ["one whose name looks like it", { sender: "Alice" }],
  ["one without a name", { sender: "" }],
  ["a turn that nobody speaks in", {}],
  ["another conversation of the same people", { sender: "alice", session: "other" }],
  ["the same name of another owner", { sender: "alice", owner: "cl-2" as ClientId }],
])("does not hold for %s", async (_what, more) => {
  expect(await asked(more)).toBe(1);
});

test("does not hold for another call", async () => {
  expect(await asked({ sender: "alice" }, { what: "it all" })).toBe(1);
});

test("/new ends it", async () => {
  const { agent, store } = agentFixture({ model: scripted(), tools: [send], verdict: "ask" });
  const place = { owner, name: "group", sender: "alice", agent: "default" };
  await store.write(() => store.grants.add({ ...place, key, text: "send", approval: 1, atMs: 0 }));
  await ask(agent, "/new", { clientId: owner, owner, session: "group", takesCommands: true });
  expect(store.grants.list(owner, "group")).toEqual([]);
});
