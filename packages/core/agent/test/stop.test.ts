// Stopping a turn: from the conversation itself, from outside, while it waits, and in the instant in which it ends.
import { describe, expect, test } from "vitest";
import type { Store } from "@svc/store";
import {
  act,
  ask,
  call,
  client,
  failure,
  gate,
  hang,
  agentFixture,
  rolesOf,
  scripted,
  text,
  until,
} from "./agent-fixture.ts";

const claimOf = (key: string) => ({ scope: "client", key });
const isNew = (store: Store, key: string) => store.idempotency.claim(claimOf(key)) === "new";
const inConversation = { session: "s" };

describe("/stop", () => {
  test.each(["/stop", "  /STOP\n"])(
    "%j ends the running turn at once; no model sees it, and the message that was stopped stays",
    async (words) => {
      const model = scripted(hang, [text("again")]);
      const { agent, store, events, clock } = agentFixture({ model });
      const stopped = failure(ask(agent, "go", inConversation));
      await until(() => model.asked.length === 1);
      expect(await ask(agent, words, inConversation)).toMatchObject({
        response: "Stopped.",
        agent: "default",
        sessionId: "s",
        inputTokens: 0,
        costUsd: 0,
      });
      expect(await stopped).toMatchObject({ code: "TURN_CANCELLED", message: "The turn was stopped by /stop." });
      expect(store.sessions.list({}, 10)).toMatchObject([{ turns: 1 }]);
      expect(store.openTurns.all()).toEqual([]);
      await ask(agent, "go on", inConversation);
      expect(rolesOf(model.asked[1])).toEqual(["user", "assistant", "user"]);
      expect(JSON.stringify(model.asked[1]!.prompt[1])).toContain("stopped");
      expect(events.map(({ type }) => type)).toEqual(["turn-start", "turn-end", "turn-start", "turn-end"]);
      expect(clock.waiting).toBe(0);
    },
  );

  test("ends the turns that wait behind it too, and their keys are new again", async () => {
    const { agent, store, events } = agentFixture({ model: scripted(hang) });
    store.idempotency.claim(claimOf("a"));
    store.idempotency.claim(claimOf("b"));
    const outcomes = ["a", "b"].map((key) => failure(ask(agent, key, { ...inConversation, claim: claimOf(key) })));
    await ask(agent, "/stop", inConversation);
    expect((await Promise.all(outcomes)).map(({ code }) => code)).toEqual(["TURN_CANCELLED", "TURN_CANCELLED"]);
    expect([isNew(store, "a"), isNew(store, "b")]).toEqual([true, true]);
    expect(events.filter(({ type }) => type === "turn-start").length).toBeLessThan(2);
    expect(agent.load()).toEqual({ running: 0, waiting: 0 });
  });

  test("says so when nothing was running, and needs no session for that", async () => {
    const { agent, store } = agentFixture({ model: scripted() });
    expect(await ask(agent, "/stop", inConversation)).toMatchObject({ response: "Nothing was running." });
    expect(await ask(agent, "/stop")).toMatchObject({ response: "Nothing was running." });
    expect(store.sessions.list({}, 10)).toEqual([]);
  });

  test("concerns the conversation it is said in, not another of the same owner or the same name", async () => {
    const { agent } = agentFixture({ model: scripted(hang) });
    const leave = new AbortController();
    const turn = failure(ask(agent, "go", { ...inConversation, signal: leave.signal }));
    expect(await ask(agent, "/stop", { session: "t" })).toMatchObject({ response: "Nothing was running." });
    expect(await ask(agent, "/stop", { ...inConversation, owner: "other" })).toMatchObject({
      response: "Nothing was running.",
    });
    await until(() => agent.load().running === 1);
    leave.abort();
    await turn;
  });

  test("sent twice with one key stops once: the repetition is a duplicate", async () => {
    const { agent, store } = agentFixture({ model: scripted() });
    store.idempotency.claim(claimOf("k"));
    await ask(agent, "/stop", { ...inConversation, claim: claimOf("k") });
    expect(isNew(store, "k")).toBe(false);
    expect(store.idempotency.storedKeys()).toEqual(["k"]);
  });

  test("is not what begins like it, and words about it are for the model", async () => {
    const model = scripted([text("1")], [text("2")]);
    const { agent } = agentFixture({ model });
    await ask(agent, "/stopping");
    await ask(agent, "what does /stop do?");
    expect(model.asked).toHaveLength(2);
  });

  test("ends a turn that waits for a person, and the person's answer comes too late", async () => {
    const { agent, clock } = agentFixture({ model: scripted([call("act")]), verdict: "ask" });
    const turn = failure(ask(agent, "go", { ...inConversation, ask: () => new Promise(() => {}) }));
    await clock.advance(1000);
    await ask(agent, "/stop", inConversation);
    expect(await turn).toMatchObject({ code: "TURN_CANCELLED" });
    expect(clock.waiting).toBe(0);
  });
});

describe("a stopped turn", () => {
  test("in which a tool acted stays in the conversation, and keeps its key", async () => {
    const model = scripted([call("act")], hang, [text("I see")]);
    const { agent, store } = agentFixture({ model });
    store.idempotency.claim(claimOf("k"));
    const turn = failure(ask(agent, "go", { ...inConversation, claim: claimOf("k") }));
    await until(() => model.asked.length === 2);
    await ask(agent, "/stop", inConversation);
    await turn;
    expect(isNew(store, "k")).toBe(false);
    await ask(agent, "what did you do?", inConversation);
    expect(rolesOf(model.asked[2])).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  });

  test("does not run a call that was permitted in the same moment", async () => {
    let ran = 0;
    const tool = { ...act, run: async () => ((ran += 1), "done") };
    const { agent, store } = agentFixture({ model: scripted([call("act")]), tools: [tool] });
    // The start of the call is written to the journal: the last moment before it acts.
    const write = store.toolCalls.start.bind(store.toolCalls);
    store.toolCalls.start = (record) => {
      write(record);
      void ask(agent, "/stop", inConversation);
    };
    expect(await failure(ask(agent, "go", inConversation))).toMatchObject({ code: "TURN_CANCELLED" });
    expect(ran).toBe(0);
  });
});

describe("cancelling from outside", () => {
  test("finds a conversation that is not on disk yet, and tells who stopped it", async () => {
    const { agent } = agentFixture({ model: scripted(hang) });
    const turn = failure(ask(agent, "go", inConversation));
    await until(() => agent.sessions.running().length === 1);
    const [running] = agent.sessions.running();
    expect(running).toMatchObject({ agent: "default", sessionName: "s", clientId: "client" });
    expect(agent.sessions.cancel(running!.sessionId, "an operator")).toBe(true);
    expect(agent.sessions.cancel(running!.sessionId)).toBe(false);
    expect(await turn).toMatchObject({ code: "TURN_CANCELLED", message: "The turn was stopped by an operator." });
    expect(agent.sessions.running()).toEqual([]);
  });

  test("finds one that is on disk, under the id it has there", async () => {
    const model = scripted([text("1")], hang);
    const { store, agent: before } = agentFixture({ model });
    await ask(before, "1", inConversation);
    const { agent } = agentFixture({ model, store });
    const turn = failure(ask(agent, "2", inConversation));
    const { id } = store.sessions.list({}, 1)[0]!;
    await until(() => agent.sessions.running().length === 1);
    expect(agent.sessions.running()[0]).toMatchObject({ sessionId: id });
    expect(agent.sessions.cancel(id)).toBe(true);
    expect(await turn).toMatchObject({ code: "TURN_CANCELLED" });
  });

  test("nothing is cancelled by an id that nobody has", () => {
    expect(agentFixture({ model: scripted() }).agent.sessions.cancel("nobody")).toBe(false);
  });

  test("a conversation that nobody named can be stopped by the name its first event told", async () => {
    const { agent } = agentFixture({ model: scripted(hang) });
    let name = "";
    const turn = failure(
      ask(agent, "go", { onEvent: (event: { sessionId?: string }) => (name = event.sessionId ?? name) }),
    );
    await until(() => name !== "");
    expect(await ask(agent, "/stop", { session: name })).toMatchObject({ response: "Stopped." });
    await turn;
  });
});

describe("in the instant in which a turn ends", () => {
  // Ticks of the microtask queue between the model's answer and the stop: before, during and after the commit.
  const ticks = async (count: number) => {
    for (let tick = 0; tick < count; tick += 1) await Promise.resolve();
  };

  test("whoever is told Stopped is right: the turn ends cancelled; else it ends with its answer, on disk", async () => {
    const outcomes = new Set<string>();
    for (let delay = 0; delay < 60; delay += 1) {
      const answer = gate();
      const model = scripted(async () => (await answer.opened, [text("done")]));
      const { agent, store } = agentFixture({ model });
      store.idempotency.claim(claimOf("k"));
      const turn = ask(agent, "go", { ...inConversation, claim: claimOf("k") }).then(
        () => "answered",
        ({ code }: { code: string }) => code,
      );
      await until(() => model.asked.length === 1);
      answer.open();
      await ticks(delay);
      if (delay > 50) await new Promise(setImmediate);
      const { response } = await ask(agent, "/stop", inConversation);
      const end = await turn;
      expect([response, end]).toEqual(
        end === "answered" ? ["Nothing was running.", end] : ["Stopped.", "TURN_CANCELLED"],
      );
      const place = store.sessions.find(client, "s")!;
      expect(store.sessions.recentTurns(place, 100)).toMatchObject([
        { state: end === "answered" ? "done" : "stopped" },
      ]);
      expect(isNew(store, "k")).toBe(end !== "answered");
      outcomes.add(end);
    }
    expect([...outcomes].toSorted()).toEqual(["TURN_CANCELLED", "answered"]);
  });

  test("a turn that fails by itself is not said to have been stopped", async () => {
    for (let delay = 0; delay < 40; delay += 1) {
      const answer = gate();
      const model = scripted(async () => (await answer.opened, Promise.reject(new Error("down"))));
      const { agent } = agentFixture({ model });
      const turn = failure(ask(agent, "go", inConversation));
      await until(() => model.asked.length === 1);
      answer.open();
      await ticks(delay);
      const { response } = await ask(agent, "/stop", inConversation);
      expect([response, (await turn).code]).toEqual(
        response === "Stopped." ? [response, "TURN_CANCELLED"] : ["Nothing was running.", "MODEL_UNREACHABLE"],
      );
    }
  });
});
