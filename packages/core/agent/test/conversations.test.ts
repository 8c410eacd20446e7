// Conversations: in order, apart from each other's, bounded, and there again after a restart.
import type { ClientId } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { ask, agentFixture, scripted, text } from "./agent-fixture.ts";

describe("conversations", () => {
  test("turns of one session run in order; another client's session of the same name is another one", async () => {
    const model = scripted([text("1")], [text("2")], [text("3")]);
    const { agent, store } = agentFixture({ model });
    await Promise.all([ask(agent, "a", { session: "s" }), ask(agent, "b", { session: "s" })]);
    await ask(agent, "c", { session: "s", clientId: "other" as ClientId });
    expect(model.asked.map((options) => options.prompt.length)).toEqual([1, 3, 1]);
    expect(store.sessions.list({}, 10)).toHaveLength(2);
  });

  test("callers that share an owner share its sessions, and keep identities of their own", async () => {
    const model = scripted([text("1")], [text("2")]);
    const { agent, events } = agentFixture({ model });
    const owner = "anonymous" as ClientId;
    for (const one of ["x", "y"]) await ask(agent, "a", { clientId: one as ClientId, owner, session: "s" });
    expect(model.asked[1]!.prompt).toHaveLength(3);
    expect(events.flatMap((event) => (event.type === "turn-start" ? [event.clientId] : []))).toEqual(["x", "y"]);
  });

  test("the oldest turns leave whole when history is full", async () => {
    const model = scripted(...Array.from({ length: 4 }, () => [text("y".repeat(1200))]));
    const { agent } = agentFixture({ model });
    for (const words of ["a", "b", "c", "d"]) await ask(agent, words.repeat(400), { session: "s" });
    expect(model.asked.map((options) => options.prompt.length)).toEqual([1, 3, 5, 5]);
    expect(JSON.stringify(model.asked[3]!.prompt[0])).toContain("bbbb");
  });

  test("what retention has removed from disk is not in the next prompt, and the conversation goes on anew", async () => {
    const model = scripted([text("1")], [text("2")], [text("3")]);
    const { agent, store, clock } = agentFixture({ model });
    await ask(agent, "old", { session: "s" });
    await clock.advance(2 * 86_400_000);
    await store.prune({ sessionDays: 1, maxSessions: 0, toolCallDays: 1, messageDays: 1 }, clock.now());
    agent.reread();
    await ask(agent, "new", { session: "s" });
    await ask(agent, "newer", { session: "s" });
    expect(model.asked.map((options) => options.prompt.length)).toEqual([1, 1, 3]);
    expect(store.sessions.list({}, 10)).toMatchObject([{ turns: 2 }]);
  });

  test("a session goes on after a restart", async () => {
    const { agent, store } = agentFixture({ model: scripted([text("hello")]) });
    await ask(agent, "hi", { session: "s" });
    const model = scripted([text("again")]);
    await ask(agentFixture({ model, store }).agent, "still there?", { session: "s" });
    expect(JSON.stringify(model.asked[0]!.prompt)).toMatch(/hi.*hello.*still there/);
  });
});
