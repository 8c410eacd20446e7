// A message or half an answer that is lost by a stop, an error or a kill; a model that is told of calls without results; two who go on
// from one turn.
import type { LanguageModelV4, LanguageModelV4Message } from "@ai-sdk/provider";
import { SvcError } from "@svc/contract";
import type { Author } from "@svc/store";
import { describe, expect, test } from "vitest";
import type { Agent, SessionMessage } from "../src/index.ts";
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
  streamOf,
  text,
  until,
} from "./agent-fixture.ts";

const inConversation = { session: "s" };
const desk: Author = { kind: "device", id: "d-1", name: "desk" };
const sessionOf = (agent: Agent) => agent.sessions.list({}, 1)[0]!;
const pageOf = (agent: Agent) => agent.sessions.messages(sessionOf(agent).id, { limit: 50 });
const shown = (messages: readonly SessionMessage[]) => messages.map(({ role, text, state }) => [role, text, state]);
const wordsOf = (prompt: readonly LanguageModelV4Message[]) =>
  prompt.map(({ role, content }) => [
    role,
    typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : part.type)).join(" "),
  ]);

/** Streams the words letter by letter, then hangs, or breaks. */
function breaking(
  words: string,
  end: "hang" | Error,
  then = scripted(),
): LanguageModelV4 & { asked: typeof then.asked } {
  let isFirst = true;
  return {
    ...then,
    doStream: async (options) => {
      if (!isFirst) return then.doStream(options);
      isFirst = false;
      return {
        stream: streamOf(
          (async function* () {
            yield { type: "text-start", id: "0" } as const;
            for (const delta of words) yield { type: "text-delta", id: "0", delta } as const;
            if (end !== "hang") throw end;
            await hang(options);
          })(),
        ),
      };
    },
  };
}

const listened = { isListened: () => true };

describe("a stopped turn", () => {
  test("keeps the message, who wrote it, and what has come of the answer; the model is told that it was stopped", async () => {
    const model = breaking("half an", "hang", scripted([text("yes")]));
    const { agent, events } = agentFixture({ model, ...listened });
    const turn = failure(ask(agent, "tell me", { ...inConversation, author: desk }));
    await until(() => events.filter(({ type }) => type === "text-delta").length === 7);
    expect(shown(pageOf(agent).messages)).toEqual([
      ["user", "tell me", "running"],
      ["assistant", "half an", "running"],
    ]);
    agent.sessions.cancel(sessionOf(agent).id, "an operator");
    await turn;
    const { messages, followUps } = pageOf(agent);
    expect(shown(messages)).toEqual([
      ["user", "tell me", "stopped"],
      ["assistant", "half an", "stopped"],
    ]);
    expect(messages[0]).toMatchObject({
      author: desk,
      problem: { code: "TURN_CANCELLED", reason: "The turn was stopped by an operator." },
    });
    expect(followUps?.ways).toEqual(["continue", "retry", "edit"]);
    await ask(agent, "go on", inConversation);
    expect(wordsOf(model.asked[0]!.prompt)).toEqual([
      ["user", "tell me"],
      ["assistant", "half an [This answer was stopped before it was complete.]"],
      ["user", "go on"],
    ]);
    expect(pageOf(agent).followUps).toBeUndefined();
  });

  test("that was waiting for another keeps its message, behind that one's", async () => {
    const { agent, store } = agentFixture({ model: scripted(hang) });
    const turns = ["one", "two"].map((words) => failure(ask(agent, words, inConversation)));
    await until(() => store.openTurns.all().length === 2 && agent.load().running === 1);
    expect(shown(pageOf(agent).messages)).toEqual([
      ["user", "one", "running"],
      ["user", "two", "waiting"],
    ]);
    agent.sessions.cancel(sessionOf(agent).id);
    await Promise.all(turns);
    expect(shown(pageOf(agent).messages)).toEqual([
      ["user", "one", "stopped"],
      ["user", "two", "stopped"],
    ]);
    expect(store.openTurns.all()).toEqual([]);
  });
});

describe("a failed turn", () => {
  test("keeps its message with the reason and the fix; the secrets are taken out of both", async () => {
    const down = Object.assign(new Error("no"), { statusCode: 401, isRetryable: false });
    const { agent } = agentFixture({ model: scripted(down), redact: (words) => words.replaceAll("401", "***") });
    await failure(ask(agent, "hello", inConversation));
    const { messages, followUps } = pageOf(agent);
    expect(shown(messages)).toEqual([["user", "hello", "failed"]]);
    expect(messages[0]!.problem).toEqual({
      code: "MODEL_REFUSED",
      reason: "The model provider refused the API key (***).",
      fix: "Set a valid key: svc secrets set model.api_key.",
    });
    expect(followUps?.ways).toEqual(["retry", "edit"]);
  });

  test("in the middle of its calls leaves none without a result", async () => {
    const model = scripted([call("act", {}, "1"), call("act", {}, "2")], [text("I see")]);
    let ran = 0;
    const tool = {
      ...act,
      run: async () => {
        ran += 1;
        if (ran === 2) throw new SvcError("TURN_CANCELLED");
        return "done";
      },
    };
    const { agent } = agentFixture({ model, tools: [tool] });
    const cancel = new AbortController();
    const stopping = { ...tool, run: async () => (cancel.abort(), tool.run()) };
    const other = agentFixture({ model, tools: [stopping] });
    await failure(ask(other.agent, "go", { ...inConversation, signal: cancel.signal }));
    await ask(other.agent, "and?", inConversation);
    const { prompt } = model.asked[1]!;
    expect(rolesOf(model.asked[1])).toEqual(["user", "assistant", "tool", "tool", "assistant", "user"]);
    const calls = prompt.flatMap(({ role, content }) =>
      role === "assistant" ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])) : [],
    );
    const results = prompt.flatMap(({ role, content }) =>
      role === "tool" ? content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])) : [],
    );
    expect(results.toSorted()).toEqual(calls.toSorted());
    expect(agent.load().running).toBe(0);
  });
});

describe("a killed process", () => {
  test("leaves the message and the saved answer to the next, which marks them failed and can go on", async () => {
    const before = agentFixture({ model: breaking("half an", "hang"), ...listened });
    void failure(ask(before.agent, "tell me", { ...inConversation, author: desk }));
    void failure(ask(before.agent, "and then", inConversation));
    await until(() => before.events.filter(({ type }) => type === "text-delta").length === 7);
    await before.clock.advance(200);
    await until(() => before.store.openTurns.all()[0]?.partial?.text === "half an");
    const { id } = sessionOf(before.agent);

    const model = scripted([text(" answer")]);
    const { agent, store } = agentFixture({ model, store: before.store });
    await agent.recover();
    expect(sessionOf(agent).id).toBe(id);
    expect(shown(pageOf(agent).messages)).toEqual([
      ["user", "tell me", "failed"],
      ["assistant", "half an", "failed"],
      ["user", "and then", "failed"],
    ]);
    expect(pageOf(agent).messages[0]).toMatchObject({ author: desk, problem: { code: "TURN_INTERRUPTED" } });
    expect(store.openTurns.all()).toEqual([]);
    await agent.recover();
    expect(pageOf(agent).messages).toHaveLength(3);
  });

  test("in the middle of a turn that acted leaves what it did, and no call without a result", async () => {
    const slow = gate();
    const tool = { ...act, run: async () => (await slow.opened, "done") };
    const before = agentFixture({ model: scripted([text("Let me."), call("act")]), tools: [tool] });
    void failure(ask(before.agent, "go", inConversation));
    await until(() => before.store.toolCalls.actionsSince("default", 0).length === 1);
    const model = scripted([text("I see")]);
    const { agent, store } = agentFixture({ model, store: before.store });
    await agent.recover();
    const { messages } = pageOf(agent);
    expect(shown(messages)).toEqual([
      ["user", "go", "failed"],
      ["assistant", "Let me.", "failed"],
    ]);
    expect(messages[1]!.calls).toMatchObject([{ tool: "act", ok: false, output: "interrupted, outcome unknown" }]);
    expect(store.steps.of(messages[0]!.turnId)).toEqual([]);
    await ask(agent, "what happened?", inConversation);
    expect(rolesOf(model.asked[0])).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  });
});

test("an answer that comes is saved five times a second at most, however many pieces it has, and never after its end", async () => {
  const before = agentFixture({});
  let saves = 0;
  const { savePartial } = before.store.openTurns;
  before.store.openTurns.savePartial = (...saved) => ((saves += 1), savePartial.apply(before.store.openTurns, saved));
  const next = Array.from({ length: 40 }, () => gate());
  const model: LanguageModelV4 = {
    ...scripted(),
    doStream: async (options) => ({
      stream: streamOf(
        (async function* () {
          yield { type: "text-start", id: "0" } as const;
          for (const { opened } of next) {
            await opened;
            yield { type: "text-delta", id: "0", delta: "x" } as const;
          }
          await hang(options);
        })(),
      ),
    }),
  };
  const { agent, clock, events } = agentFixture({ model, store: before.store, clock: before.clock, ...listened });
  const turn = failure(ask(agent, "go", inConversation));
  for (const [count, { open }] of next.entries()) {
    open();
    await until(() => events.filter(({ type }) => type === "text-delta").length > count);
    await clock.advance(50);
    await until(() => true);
  }
  expect(saves).toBeGreaterThan(5);
  expect(saves).toBeLessThanOrEqual(10);
  agent.stop(client, "s", "a test");
  await turn;
  const last = saves;
  await clock.advance(10_000);
  expect([saves, clock.waiting]).toEqual([last, 0]);
});

describe("going on from a turn without a whole answer", () => {
  const down = () => Object.assign(new Error("no"), { statusCode: 401, isRetryable: false });
  const after = (agent: Agent, how: "retry" | "edit" | "continue") => ({
    ...inConversation,
    after: { turnId: pageOf(agent).messages.at(-1)!.turnId, how },
  });

  test("a retry asks the same; people see the attempt before, and the model does not", async () => {
    const model = scripted(down(), [text("hello")], [text("fine")]);
    const { agent } = agentFixture({ model });
    await failure(ask(agent, "hi", { ...inConversation, author: desk }));
    const phone: Author = { kind: "device", id: "d-2", name: "phone" };
    await ask(agent, "", { ...after(agent, "retry"), author: phone });
    expect(wordsOf(model.asked[1]!.prompt)).toEqual([["user", "hi"]]);
    expect(pageOf(agent).messages.map(({ text, replaced, author }) => [text, replaced, author?.name])).toEqual([
      ["hi", true, "desk"],
      ["hi", false, "desk"],
      ["hello", false, undefined],
    ]);
    await ask(agent, "how are you?", inConversation);
    expect(rolesOf(model.asked[2])).toEqual(["user", "assistant", "user"]);
  });

  test("an edit asks other words in its place, and a retry that fails can be retried", async () => {
    const model = scripted(down(), down(), [text("hello")]);
    const { agent } = agentFixture({ model });
    await failure(ask(agent, "hi", inConversation));
    await failure(ask(agent, "", after(agent, "retry")));
    await ask(agent, "good morning", after(agent, "edit"));
    expect(wordsOf(model.asked[2]!.prompt)).toEqual([["user", "good morning"]]);
    expect(pageOf(agent).messages.map(({ replaced }) => replaced)).toEqual([true, true, false, false]);
  });

  test("one in which something acted stays for the model: it has to know what was done", async () => {
    const model = scripted([call("act")], down(), [text("it is done")]);
    const { agent } = agentFixture({ model });
    await failure(ask(agent, "go", inConversation));
    await ask(agent, "", after(agent, "retry"));
    expect(rolesOf(model.asked[2])).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(pageOf(agent).messages.some(({ replaced }) => replaced)).toBe(false);
  });

  test("the rest of an answer is asked for in the service's words, behind what there is of it", async () => {
    const model = breaking("half an", new Error("broken"), scripted([text(" answer")]));
    const { agent } = agentFixture({ model, ...listened, config: { model: { max_retries: 0 } } });
    await failure(ask(agent, "tell me", { ...inConversation, onEvent: () => {} }));
    await ask(agent, "", after(agent, "continue"));
    expect(wordsOf(model.asked[0]!.prompt)).toEqual([
      ["user", "tell me"],
      ["assistant", "half an [This answer broke off before it was complete.]"],
      ["user", expect.stringContaining("exactly where it broke off")],
    ]);
    expect(pageOf(agent).messages.map(({ kind, state }) => [kind, state])).toEqual([
      ["message", "failed"],
      ["message", "failed"],
      ["continue", "done"],
      ["continue", "done"],
    ]);
  });

  test("is refused where it can't be: a good turn, an older one, a forged one, nothing to continue, while one runs", async () => {
    const model = scripted(down(), [text("fine")], down(), hang);
    const { agent, store } = agentFixture({ model });
    await failure(ask(agent, "1", inConversation));
    const old = after(agent, "retry");
    expect((await failure(ask(agent, "", { ...old, after: { ...old.after, how: "continue" } }))).code).toBe(
      "TURN_STATE",
    );
    await ask(agent, "2", inConversation);
    const codes = [];
    for (const how of ["retry", "edit", "continue"] as const) {
      codes.push((await failure(ask(agent, "x", after(agent, how)))).code);
      codes.push((await failure(ask(agent, "x", { ...inConversation, after: { ...old.after, how } }))).code);
      codes.push((await failure(ask(agent, "x", { ...inConversation, after: { turnId: "t-forged", how } }))).code);
    }
    expect(codes).toEqual(Array.from({ length: 3 }, () => ["TURN_STATE", "TURN_STATE", "TURN_UNKNOWN"]).flat());
    await failure(ask(agent, "3", inConversation));
    const retry = after(agent, "retry");
    const running = failure(ask(agent, "4", inConversation));
    expect((await failure(ask(agent, "", retry))).code).toBe("TURN_RUNNING");
    await until(() => model.asked.length === 4);
    await agent.sessions.remove(sessionOf(agent).id);
    await running;
    expect((await failure(ask(agent, "", retry))).code).toBe("SESSION_UNKNOWN");
    expect([store.sessions.list({}, 10), store.openTurns.all()]).toEqual([[], []]);
  });

  test("of two at once one is first, and the other is told so", async () => {
    const model = scripted(down(), [text("once")]);
    const { agent } = agentFixture({ model });
    await failure(ask(agent, "hi", inConversation));
    const retry = after(agent, "retry");
    const ends = await Promise.allSettled([
      ask(agent, "", retry),
      ask(agent, "", retry),
      ask(agent, "x", { ...retry, after: { ...retry.after, how: "edit" } }),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(model.asked).toHaveLength(2);
  });

  test("of a conversation that is removed in the same instant leaves nothing", async () => {
    const model = scripted(down(), hang);
    const { agent, store } = agentFixture({ model });
    await failure(ask(agent, "hi", inConversation));
    const retry = after(agent, "retry");
    const removed = agent.sessions.remove(sessionOf(agent).id);
    const outcome = failure(ask(agent, "", retry));
    expect(await removed).toBe(true);
    expect((await outcome).code).toBe("SESSION_UNKNOWN");
    expect([store.sessions.list({}, 10), store.openTurns.all()]).toEqual([[], []]);
  });

  test("another owner's conversation of the same name is another one", async () => {
    const { agent } = agentFixture({ model: scripted(down()) });
    await failure(ask(agent, "hi", inConversation));
    const outcome = await failure(ask(agent, "", { ...after(agent, "retry"), owner: "other", clientId: client }));
    expect(outcome.code).toBe("SESSION_UNKNOWN");
  });
});
