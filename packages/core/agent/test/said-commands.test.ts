// Commands said where the answer is waited for, as at the terminal: one that is settled twice, or that a model is asked.
import type { ClientId } from "@svc/contract";
import type { Store } from "@svc/store";
import { expect, test } from "vitest";
import { ask, failure, gate, hang, agentFixture, rolesOf, scripted, text, until } from "./agent-fixture.ts";

const inConversation = { session: "s", takesCommands: true } as const;
const claimOf = (key: string) => ({ scope: "client", key });
const isNew = (store: Store, key: string) => store.idempotency.claim(claimOf(key)) === "new";

test("/new begins the named conversation anew, behind what runs there; the old one can be gone on with by its name", async () => {
  const open = gate();
  const model = scripted(async () => (await open.opened, [text("1")]), [text("2")], [text("3")]);
  const { agent, store, events } = agentFixture({ model });
  const first = ask(agent, "one", inConversation);
  const begun = ask(agent, " /NEW ", inConversation);
  const second = ask(agent, "two", inConversation);
  open.open();
  expect(await begun).toMatchObject({
    response: "A new conversation begins.",
    agent: "default",
    model: "builtin",
    sessionId: "s",
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
  });
  await Promise.all([first, second]);
  expect(model.asked.map(({ prompt }) => prompt.length)).toEqual([1, 1]);
  expect(store.sessions.list({}, 10).map(({ name }) => name)).toEqual(["s", "s.1"]);
  await ask(agent, "back", { session: "s.1" });
  expect(JSON.stringify(model.asked[2]!.prompt)).toMatch(/one.*back/);
  expect(events.filter(({ type }) => type === "turn-start")).toHaveLength(3);
});

test("without a session it has nothing to put aside", async () => {
  const { agent, store } = agentFixture({ model: scripted() });
  expect(await ask(agent, "/new", { takesCommands: true })).toMatchObject({ response: "A new conversation begins." });
  expect(store.sessions.list({}, 10)).toEqual([]);
});

test("/model chooses for this owner's conversation only", async () => {
  const model = ({ name = "?" }: { name?: string | undefined }) => scripted([text(name)], [text(name)]);
  const { agent } = agentFixture({ model, choices: ["small"], config: { model: { provider: "openai", name: "big" } } });
  expect(await ask(agent, "/model small", inConversation)).toMatchObject({ model: "small" });
  expect(await ask(agent, "hi", inConversation)).toMatchObject({ response: "small", model: "small" });
  expect(await ask(agent, "hi", { ...inConversation, clientId: "other" as ClientId })).toMatchObject({ model: "big" });
  expect(await ask(agent, "hi")).toMatchObject({ model: "big" });
});

test("each model is opened once, however often conversations of several take turns, until the config lets go of it", async () => {
  const opened: string[] = [];
  const model = ({ name = "?" }: { name?: string | undefined }) => {
    opened.push(name);
    return scripted(...Array.from({ length: 9 }, () => [text(name)]));
  };
  const options = { model, choices: ["small"], config: { model: { provider: "openai", name: "big" } } } as const;
  const { agent, set } = agentFixture(options);
  await ask(agent, "/model small", inConversation);
  for (const session of ["s", "t", "s", "t"]) await ask(agent, "hi", { session });
  agent.reconfigure(set(options));
  for (const session of ["s", "t"]) await ask(agent, "hi", { session });
  expect(opened).toEqual(["small", "big"]);
  agent.reconfigure(set({ ...options, choices: [] }));
  agent.reconfigure(set(options));
  for (const session of ["s", "t"]) await ask(agent, "hi", { session });
  expect(opened).toEqual(["small", "big", "small"]);
});

test("/status counts those that wait behind it, and no other conversation's", async () => {
  const open = gate();
  const { agent } = agentFixture({
    model: scripted(async () => (await open.opened, [text("1")]), [text("2")], [text("3")]),
  });
  const turns = [ask(agent, "go", inConversation)];
  const status = ask(agent, "/status", inConversation);
  turns.push(ask(agent, "next", inConversation), ask(agent, "go", { session: "elsewhere" }));
  open.open();
  expect((await status).response).toContain("1 message waits here.");
  await Promise.all(turns);
  expect((await ask(agent, "/status", inConversation)).response).toContain("Nothing else runs or waits here.");
});

test("its key makes a duplicate of the same request, and is new again when it was never settled", async () => {
  const model = scripted(hang);
  const { agent, store } = agentFixture({ model });
  store.idempotency.claim(claimOf("a"));
  await ask(agent, "/new", { ...inConversation, claim: claimOf("a") });
  expect(isNew(store, "a")).toBe(false);
  const leave = new AbortController();
  store.idempotency.claim(claimOf("b"));
  const running = failure(ask(agent, "go", inConversation));
  const waiting = failure(ask(agent, "/new", { ...inConversation, claim: claimOf("b"), signal: leave.signal }));
  await until(() => model.asked.length === 1);
  leave.abort(new Error("gone"));
  await waiting;
  expect(isNew(store, "b")).toBe(true);
  agent.stop("client" as ClientId, "s", "a test");
  await running;
});

test("whoever does not show its answer has the model asked", async () => {
  const model = scripted([text("ok")]);
  const { agent } = agentFixture({ model });
  expect(await ask(agent, "/new", { session: "s" })).toMatchObject({ response: "ok" });
  expect(rolesOf(model.asked[0])).toEqual(["user"]);
});
