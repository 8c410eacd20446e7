// A reload while turns run: who locks down must be obeyed at once, and nothing else may be disturbed by it.
import { defineTool } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { ModelOpener } from "../src/models/agent-models.ts";
import type { PersonAnswer } from "../src/types.ts";
import {
  act,
  ask,
  call,
  failure,
  gate,
  hang,
  agentFixture,
  lastSent,
  read,
  rolesOf,
  scripted,
  text,
  until,
} from "./agent-fixture.ts";

const acting = (run: () => void) => defineTool({ ...act, run: async () => (run(), "done") });

describe("a turn that runs", () => {
  test("has its next call judged by what is in force then", async () => {
    const lockDown = async () => {
      agent.reconfigure(set({ verdict: "refuse", tools: [act] }));
      return [call("act", {}, "second"), call("read", {}, "third")];
    };
    const { agent, set } = agentFixture({ model: scripted([call("act", {}, "first")], lockDown, [text("I see")]) });
    await ask(agent, "go", { session: "s" });
    const { messages } = agent.sessions.messages(agent.sessions.list({}, 1)[0]!.id, { limit: 10 });
    expect(messages.flatMap(({ calls }) => calls.map(({ ok, output }) => [ok, output]))).toEqual([
      [true, "done"],
      [false, "TOOL_REFUSED: Locked down."],
      [false, "TOOL_UNKNOWN: There is no tool with this name."],
    ]);
  });

  test("keeps the model it began with", async () => {
    const old = scripted(async () => {
      agent.reconfigure(set({ config: { model: { name: "new" } } }));
      return [call("read")];
    }, [text("old to the end")]);
    const { agent, set } = agentFixture({
      model: ({ name }) => (name === "old" ? old : scripted([text("new")])),
      config: { model: { name: "old" } },
    });
    expect(await ask(agent, "1")).toMatchObject({ response: "old to the end" });
    expect(await ask(agent, "2")).toMatchObject({ response: "new" });
  });

  test("is offered the same tools to its end, even those that are gone", async () => {
    const model = scripted(async () => {
      agent.reconfigure(set({ tools: [] }));
      return [call("read")];
    }, [text("gone")]);
    const { agent, set } = agentFixture({ model });
    await ask(agent, "go");
    expect(model.asked.map(({ tools }) => tools?.length)).toEqual([2, 2]);
    expect(lastSent(model)).toContain("TOOL_UNKNOWN");
  });

  test("of an agent that is removed can use no tool any more, and still answers", async () => {
    const model = scripted(async () => {
      agent.reconfigure(set({}));
      return [call("act")];
    }, [text("I am gone")]);
    const { agent, set } = agentFixture({ model, agents: { clerk: {} } });
    expect(await ask(agent, "go", { agent: "clerk" })).toMatchObject({ agent: "clerk", response: "I am gone" });
    expect(lastSent(model)).toContain("no longer in the config");
    expect(await failure(ask(agent, "go", { agent: "clerk" }))).toMatchObject({ code: "AGENT_UNKNOWN" });
  });

  test("that waited while its agent was removed does not run, and its key is new again", async () => {
    const hold = gate();
    const { agent, set, store } = agentFixture({
      model: scripted(async () => (await hold.opened, [text("first")])),
      agents: { clerk: {} },
    });
    const claim = { scope: "client", key: "k" };
    store.idempotency.claim(claim);
    const first = ask(agent, "one", { session: "s", agent: "clerk" });
    const second = failure(ask(agent, "two", { session: "s", agent: "clerk", claim }));
    await until(() => agent.load().running === 1 && agent.sessions.running().length === 1);
    agent.reconfigure(set({}));
    hold.open();
    expect(await first).toMatchObject({ response: "first" });
    expect(await second).toMatchObject({ code: "AGENT_UNKNOWN" });
    expect(store.idempotency.claim(claim)).toBe("new");
  });
});

describe("a call that waits for a person", () => {
  const asked = async (then: Parameters<ReturnType<typeof agentFixture>["set"]>[0]) => {
    let ran = 0;
    const tool = acting(() => (ran += 1));
    const model = scripted([call("act")], [text("ok")]);
    const { agent, set } = agentFixture({ model, tools: [tool], verdict: "ask" });
    const answer = gate<PersonAnswer>();
    const turn = ask(agent, "go", { ask: () => answer.opened });
    await until(() => model.asked.length === 1);
    agent.reconfigure(set({ tools: [tool], ...then }));
    answer.open({ approved: true });
    await turn;
    return { ran, sent: lastSent(model) };
  };

  test("is refused when it was locked down meanwhile, whatever the person says", async () => {
    expect(await asked({ verdict: "refuse" })).toMatchObject({ ran: 0, sent: expect.stringContaining("Locked down.") });
  });

  test("does not run when its tool is gone", async () => {
    expect(await asked({ tools: [read] })).toMatchObject({ ran: 0, sent: expect.stringContaining("TOOL_UNKNOWN") });
  });

  test.each(["ask", "allow"] as const)("runs once when the new policy says %s", async (verdict) => {
    expect((await asked({ verdict })).ran).toBe(1);
  });

  test("runs in the environment in force after the yes, which counts it", async () => {
    const tracked: string[] = [];
    const track = (name: string) => (work: () => Promise<never>) => (tracked.push(name), work());
    const model = scripted([call("act")], [text("ok")]);
    const { agent, set } = agentFixture({ model, agents: { clerk: { verdict: "ask", track: track("old") as never } } });
    const answer = gate<PersonAnswer>();
    const turn = ask(agent, "go", { agent: "clerk", ask: () => answer.opened });
    await until(() => model.asked.length === 1);
    agent.reconfigure(set({ agents: { clerk: { verdict: "ask", track: track("new") as never } } }));
    answer.open({ approved: true });
    await turn;
    expect(tracked).toEqual(["new"]);
  });
});

describe("what is made anew", () => {
  const counted = (opened: string[], ...answers: Parameters<typeof scripted>): ModelOpener => {
    const model = scripted(...answers);
    return ({ name = "" }) => (opened.push(name), model);
  };
  const answers = (count: number) => Array.from({ length: count }, () => [text("ok")]);

  test("a model is opened again only when it is another one", async () => {
    const opened: string[] = [];
    const { agent, set } = agentFixture({ model: counted(opened, ...answers(5)), config: { model: { name: "a" } } });
    await ask(agent, "1");
    agent.reconfigure(set({ config: { model: { name: "a", max_retries: 7 } }, verdict: "refuse" }));
    await ask(agent, "2");
    agent.reconfigure(set({ config: { model: { name: "b" } } }));
    await ask(agent, "3");
    agent.reconfigure(set({ config: { model: { name: "b", api_key: "another" } } }));
    await ask(agent, "4");
    expect(opened).toEqual(["a", "b", "b"]);
  });

  test("a model that can't be opened is tried again by the next turn", async () => {
    let tries = 0;
    const model = scripted([text("now")]);
    const { agent } = agentFixture({
      model: () => {
        if ((tries += 1) === 1) throw new Error("not yet");
        return model;
      },
    });
    expect(await failure(ask(agent, "go"))).toMatchObject({ code: "TURN_FAILED" });
    expect(await ask(agent, "go")).toMatchObject({ response: "now" });
  });

  test("instructions and limits hold from the next turn on", async () => {
    const model = scripted([text("1")], [call("read")]);
    const { agent, set } = agentFixture({ model });
    await ask(agent, "1");
    agent.reconfigure(set({ config: { agent: { instructions: "New.", max_steps: 1 } } }));
    expect(await failure(ask(agent, "2"))).toMatchObject({ code: "TURN_STEP_LIMIT" });
    expect(model.asked[1]!.prompt[0]).toMatchObject({ content: "New." });
  });

  test("prices hold from the next turn on", async () => {
    const price = { input_per_million: 1e6, output_per_million: 0 };
    const { agent, set } = agentFixture({ model: scripted(...answers(2)), config: { model: { provider: "openai" } } });
    expect(await ask(agent, "1")).toMatchObject({ costUsd: undefined });
    agent.reconfigure(set({ config: { model: { provider: "openai", price } } }));
    expect(await ask(agent, "2")).toMatchObject({ costUsd: 10 });
  });

  test("a smaller and a larger history hold for conversations that are remembered", async () => {
    const model = scripted(...answers(5));
    const { agent, set } = agentFixture({ model });
    for (const words of ["a", "b", "c"]) await ask(agent, words.repeat(400), { session: "s" });
    agent.reconfigure(set({ config: { agent: { history_max_tokens: 256 } } }));
    await ask(agent, "d", { session: "s" });
    agent.reconfigure(set({ config: { agent: { history_max_tokens: 10_000 } } }));
    await ask(agent, "e", { session: "s" });
    expect(model.asked.map((options) => rolesOf(options).length)).toEqual([1, 3, 5, 5, 9]);
  });

  test("more turns run at once as soon as they may", async () => {
    const { agent, set } = agentFixture({ model: scripted(hang, hang), config: { agent: { max_parallel_turns: 1 } } });
    const stop = new AbortController();
    const turns = ["1", "2"].map((words) => failure(ask(agent, words, { signal: stop.signal })));
    expect(agent.load()).toEqual({ running: 1, waiting: 1 });
    agent.reconfigure(set({ config: { agent: { max_parallel_turns: 2 } } }));
    expect(agent.load()).toEqual({ running: 2, waiting: 0 });
    stop.abort();
    await Promise.all(turns);
    expect(agent.load()).toEqual({ running: 0, waiting: 0 });
  });
});

test("200 requests with one key while the config changes: one turn, and the key ends as a duplicate", async () => {
  const model = scripted([call("act")], [text("once")]);
  const { agent, set, store } = agentFixture({ model });
  const claim = { scope: "client", key: "k" };
  const outcomes = Array.from({ length: 200 }, async (_, index) => {
    await new Promise(index % 2 === 0 ? setImmediate : process.nextTick);
    if (index % 10 === 0)
      agent.reconfigure(set({ verdict: "allow", config: { agent: { history_max_tokens: 1000 + index } } }));
    if (store.idempotency.claim(claim) === "duplicate") return "duplicate";
    return (await ask(agent, "go", { session: "s", claim })).response;
  });
  const answers = await Promise.all(outcomes);
  expect(answers.filter((answer) => answer !== "duplicate")).toEqual(["once"]);
  expect(store.idempotency.claim(claim)).toBe("duplicate");
  expect(store.toolCalls.actionsSince("default", 0)).toHaveLength(1);
});
