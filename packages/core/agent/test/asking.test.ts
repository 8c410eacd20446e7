// A person's yes that is lost, asked for twice, or taken for another call's; a turn that holds up others, or a shutdown, while it
// waits for one.
import { describe, expect, test } from "vitest";
import { type AskPerson, isPostponed, type PersonAnswer, type ToolQuestion } from "../src/index.ts";
import {
  act,
  ask,
  call,
  client,
  failure,
  gate,
  agentFixture,
  type AgentFixtureOptions,
  scripted,
  text,
  until,
} from "./agent-fixture.ts";

const resumable = { turnId: "t-1", resumable: true, session: "s", owner: client } as const;

/** Somebody who is asked and answers when a test says so. */
function person() {
  const asked: { question: ToolQuestion; signal: AbortSignal; answer: (answer: PersonAnswer) => void }[] = [];
  const asking: AskPerson = (question, signal) => {
    const { promise, resolve } = Promise.withResolvers<PersonAnswer>();
    asked.push({ question, signal, answer: resolve });
    return promise;
  };
  return { asked, asking };
}

const waiting = (options: Partial<AgentFixtureOptions>): AgentFixtureOptions => ({
  tools: [act],
  verdict: "ask",
  ...options,
});
const yes: PersonAnswer = { approved: true };

describe("who is asked", () => {
  test("is whoever the agent was made with, unless the request brings somebody", async () => {
    const [own, brought] = [person(), person()];
    const model = scripted([call("act")], [text("one")], [call("act")], [text("two")]);
    const { agent } = agentFixture(waiting({ model, ask: own.asking }));
    const first = ask(agent, "go");
    await until(() => own.asked.length === 1);
    own.asked[0]!.answer(yes);
    expect(await first).toMatchObject({ response: "one" });
    const second = ask(agent, "go", { ask: brought.asking });
    await until(() => brought.asked.length === 1);
    brought.asked[0]!.answer(yes);
    expect(await second).toMatchObject({ response: "two" });
    expect([own.asked.length, brought.asked[0]!.question]).toMatchObject([1, { tool: "act", callId: "call-act" }]);
  });
});

describe("a turn that is killed while it waits", () => {
  test("asks the same again by the same name when it is taken up, without asking the model", async () => {
    const before = person();
    const first = agentFixture(waiting({ model: scripted([text("wait"), call("act")]), ask: before.asking }));
    const killed = new AbortController();
    const lost = failure(ask(first.agent, "go", { ...resumable, signal: killed.signal }));
    await until(() => before.asked.length === 1);
    killed.abort();
    await lost;
    const after = person();
    const model = scripted([text("did it")]);
    const next = agentFixture(waiting({ model, ask: after.asking, store: first.store }));
    const turn = ask(next.agent, "go", resumable);
    await until(() => after.asked.length === 1);
    expect([after.asked[0]!.question, model.asked.length]).toEqual([before.asked[0]!.question, 0]);
    after.asked[0]!.answer(yes);
    expect(await turn).toMatchObject({ response: "did it" });
    expect(first.store.toolCalls.statesOf("t-1")).toEqual([{ callId: "call-act", tool: "act", state: "finished" }]);
  });

  test("asks no more than it has to: what was answered before is not asked again in the same attempt", async () => {
    const nobody = person();
    const model = scripted([call("act", {}, "a"), call("act", {}, "b")]);
    const first = agentFixture(waiting({ model, ask: nobody.asking }));
    const killed = new AbortController();
    const lost = failure(ask(first.agent, "go", { ...resumable, signal: killed.signal }));
    await until(() => nobody.asked.length === 1);
    nobody.asked[0]!.answer(yes);
    await until(() => nobody.asked.length === 2);
    killed.abort();
    await lost;
    const again = person();
    const next = agentFixture(waiting({ model: scripted([text("ok")]), ask: again.asking, store: first.store }));
    const turn = ask(next.agent, "go", resumable);
    await until(() => again.asked.length === 1);
    expect(again.asked[0]!.question.callId).toBe("b");
    again.asked[0]!.answer({ approved: false });
    await turn;
  });
});

describe("a model that gives a call the id of an earlier one", () => {
  test("in the next step asks by another name", async () => {
    const { asked, asking } = person();
    const model = scripted([call("act", {}, "x")], [call("act", {}, "x")], [text("ok")]);
    const { agent } = agentFixture(waiting({ model, ask: asking }));
    const turn = ask(agent, "go", resumable);
    await until(() => asked.length === 1);
    asked[0]!.answer({ approved: false });
    await until(() => asked.length === 2);
    asked[1]!.answer(yes);
    await turn;
    const ids = asked.map(({ question }) => question.callId);
    expect(ids[0]).toBe("x");
    expect(ids[1]).not.toBe("x");
  });

  test("in a turn that was given up and is run anew asks by another name, whatever became of the first", async () => {
    const { asked, asking } = person();
    const first = agentFixture(waiting({ model: scripted([call("act", {}, "x")], new Error("down")), ask: asking }));
    const turn = failure(ask(first.agent, "go", resumable));
    await until(() => asked.length === 1);
    asked[0]!.answer({ approved: false });
    await turn;
    const given = { turnId: "t-1", owner: client, session: "s", inTransaction: () => undefined };
    await first.agent.abandon(given);
    const model = scripted([call("act", {}, "x")], [text("ok")]);
    const next = agentFixture(waiting({ model, ask: asking, store: first.store }));
    const again = ask(next.agent, "go", resumable);
    await until(() => asked.length === 2);
    expect(asked[1]!.question.callId).not.toBe("x");
    asked[1]!.answer(yes);
    await again;
  });
});

describe("a question that was only asked", () => {
  test("is no action, and lets the key of its turn go", async () => {
    const { asked, asking } = person();
    const { agent, store } = agentFixture(waiting({ model: scripted([call("act")]), ask: asking }));
    const claim = { scope: "client", key: "k" };
    store.idempotency.claim(claim);
    const leave = new AbortController();
    const turn = failure(ask(agent, "go", { ...resumable, claim, signal: leave.signal }));
    await until(() => asked.length === 1);
    leave.abort();
    await turn;
    expect(store.toolCalls.actionsSince("default", 0)).toEqual([]);
    expect(store.idempotency.claim(claim)).toBe("new");
  });

  test("that was stopped tells whoever was asked", async () => {
    const { asked, asking } = person();
    const { agent } = agentFixture(waiting({ model: scripted([call("act")]), ask: asking }));
    const turn = failure(ask(agent, "go", { session: "s" }));
    await until(() => asked.length === 1);
    await ask(agent, "/stop", { session: "s" });
    expect(await turn).toMatchObject({ code: "TURN_CANCELLED" });
    const { signal } = asked[0]!;
    expect([signal.aborted, isPostponed(signal.reason)]).toEqual([true, false]);
  });
});

describe("a shutdown", () => {
  const drained = async (more: object) => {
    const { asked, asking } = person();
    const made = agentFixture(waiting({ model: scripted([call("act")]), ask: asking }));
    const turn = failure(ask(made.agent, "go", more));
    await until(() => asked.length === 1);
    made.agent.drain();
    const error = await turn;
    return { error, made, signal: asked[0]!.signal };
  };

  test("waits for no person, and leaves the question of a turn that is taken up again", async () => {
    const { error, signal, made } = await drained(resumable);
    expect([error.code, isPostponed(error), isPostponed(signal.reason)]).toEqual(["TURN_CANCELLED", true, true]);
    expect(made.clock.waiting).toBe(0);
  });

  test("takes back the question of a turn that nobody takes up", async () => {
    const { error, signal } = await drained({});
    expect([error.code, signal.aborted, isPostponed(signal.reason)]).toEqual(["TURN_CANCELLED", true, false]);
  });

  test("lets a turn run on until it would begin to wait", async () => {
    const { opened, open } = gate();
    const model = scripted(() => opened.then(() => [call("act")]));
    const { asked, asking } = person();
    const { agent } = agentFixture(waiting({ model, ask: asking }));
    const turn = failure(ask(agent, "go", resumable));
    await until(() => model.asked.length === 1);
    agent.drain();
    open();
    expect(isPostponed(await turn)).toBe(true);
    expect(asked).toEqual([]);
  });
});

describe("a place among those that run", () => {
  test("is free while a person is waited for, and is had again before others get it", async () => {
    const { asked, asking } = person();
    const order: string[] = [];
    const says = (name: string) => async () => (order.push(name), [text(name)]);
    const model = scripted([call("act")], says("other"), says("busy"), says("answered"), says("late"));
    const { agent } = agentFixture(waiting({ model, ask: asking, config: { agent: { max_parallel_turns: 1 } } }));
    const first = ask(agent, "a", { session: "a" });
    await until(() => asked.length === 1);
    await ask(agent, "b", { session: "b" });
    const { opened, open } = gate();
    const busy = ask(agent, "c", { session: "c", beforeEnd: () => opened });
    await until(() => order.length === 2);
    const late = ask(agent, "d", { session: "d" });
    asked[0]!.answer(yes);
    await new Promise(setImmediate);
    expect(order).toEqual(["other", "busy"]);
    open();
    expect((await Promise.all([busy, first, late])).map(({ response }) => response)).toEqual([
      "busy",
      "answered",
      "late",
    ]);
    expect(order).toEqual(["other", "busy", "answered", "late"]);
    expect(agent.load()).toEqual({ running: 0, waiting: 0 });
  });

  test("is not waited for by who is stopped on the way back to it", async () => {
    const { asked, asking } = person();
    const model = scripted([call("act")], [text("busy")], [text("next")]);
    const { agent } = agentFixture(waiting({ model, ask: asking, config: { agent: { max_parallel_turns: 1 } } }));
    const first = failure(ask(agent, "a", { session: "a" }));
    await until(() => asked.length === 1);
    const { opened, open } = gate();
    const busy = ask(agent, "b", { session: "b", beforeEnd: () => opened });
    await until(() => model.asked.length === 2);
    asked[0]!.answer(yes);
    await new Promise(setImmediate);
    agent.stop(client, "a", "/stop");
    expect((await first).code).toBe("TURN_CANCELLED");
    expect(agent.load().running).toBe(1);
    open();
    await busy;
    expect(await ask(agent, "c")).toMatchObject({ response: "next" });
    expect(agent.load()).toEqual({ running: 0, waiting: 0 });
  });
});
