// The turn: tools in a loop, what is kept when it fails, time limits, people who do not answer.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from "@ai-sdk/provider";
import { type ClientId, defineTool, SvcError, type Tool, type TurnEvent } from "@svc/contract";
import { openStore, type Store } from "@svc/store";
import { captureLogger, fakeClock } from "@svc/testkit";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { type Agent, createAgent, type ToolEnvironment } from "../src/index.ts";

type Answer =
  | LanguageModelV4Content[]
  | Error
  | ((options: LanguageModelV4CallOptions) => Promise<LanguageModelV4Content[]>);

const CONFIG = {
  model: { provider: "builtin" as const, max_retries: 2 },
  agent: { turn_timeout_secs: 300, max_steps: 5, history_max_tokens: 1000, max_parallel_turns: 4 },
};

const text = (words: string): LanguageModelV4Content => ({ type: "text", text: words });
const call = (toolName: string, input: object = {}, toolCallId = `call-${toolName}`): LanguageModelV4Content => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: JSON.stringify(input),
});

/** A model that gives these answers, one a call, and keeps what it was asked. */
function scripted(...answers: Answer[]): LanguageModelV4 & { asked: LanguageModelV4CallOptions[] } {
  const asked: LanguageModelV4CallOptions[] = [];
  return {
    asked,
    specificationVersion: "v4",
    provider: "test",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async (options) => {
      asked.push(structuredClone({ ...options, abortSignal: undefined }) as LanguageModelV4CallOptions);
      const answer = answers.shift();
      if (answer === undefined) throw new Error("the script is over");
      if (answer instanceof Error) throw answer;
      const content = typeof answer === "function" ? await answer(options) : answer;
      const count = {
        noCache: undefined,
        cacheRead: undefined,
        cacheWrite: undefined,
        text: undefined,
        reasoning: undefined,
      };
      return {
        content,
        finishReason: { unified: "stop", raw: undefined },
        usage: { inputTokens: { ...count, total: 10 }, outputTokens: { ...count, total: 5 } },
        warnings: [],
      };
    },
    doStream: async () => {
      throw new Error("not streamed here");
    },
  };
}

const read = defineTool({
  name: "read",
  description: "reads",
  input: v.object({ what: v.optional(v.string()) }),
  approval: "auto",
  run: async ({ what }) => ({ saw: what ?? "nothing" }),
});
const act = defineTool({
  name: "act",
  description: "acts",
  input: v.object({}),
  approval: "ask",
  run: async () => "done",
});

interface House {
  readonly agent: Agent;
  readonly store: Store;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly events: TurnEvent[];
}

function house(
  model: LanguageModelV4,
  tools: readonly Tool[] = [read, act],
  verdict: "allow" | "ask" = "allow",
): House {
  const clock = fakeClock();
  const store = openStore({ file: ":memory:", clock, idempotency: { ttlMs: 300_000, maxKeys: 10 } });
  const events: TurnEvent[] = [];
  const log = captureLogger();
  const never = () => Promise.reject(new Error("not in this test"));
  const environment: ToolEnvironment = {
    find: (name) => {
      const tool = tools.find((tool) => tool.name === name);
      if (!tool) throw new SvcError("TOOL_UNKNOWN");
      return tool;
    },
    tools,
    policy: {
      judge: (tool) =>
        tool.approval === "ask" && verdict === "ask"
          ? { verdict: "ask", reason: "Acting tools wait." }
          : { verdict: "allow" },
      recordAction: () => {},
    },
    workspace: { root: "/", read: never, write: never, list: never },
    exec: never,
    fetch: never,
    store,
    clock,
    log,
    askTimeoutMs: 300_000,
    maxOutputChars: 1000,
  };
  const agent = createAgent({
    config: CONFIG,
    store,
    environment,
    clock,
    log,
    model,
    publish: (event) => events.push(event),
  });
  return { agent, store, clock, events };
}

const signal = new AbortController().signal;
const clientId = "client" as ClientId;
const ask = (agent: Agent, words: string, more: object = {}) => agent.run({ clientId, text: words, signal, ...more });

describe("a turn", () => {
  test("goes model, tool, model; the model sees the result; the conversation remembers all of it", async () => {
    const model = scripted([text("let me look"), call("read", { what: "it" })], [text("I saw it")], [text("again")]);
    const { agent, events } = house(model);
    const result = await ask(agent, "look", { session: "s" });
    expect(result).toMatchObject({ response: "I saw it", sessionId: "s", inputTokens: 20, outputTokens: 10 });
    expect(model.asked[1]!.prompt.at(-1)).toMatchObject({
      role: "tool",
      content: [{ output: { type: "json", value: { saw: "it" } } }],
    });
    await ask(agent, "and?", { session: "s" });
    expect(model.asked[2]!.prompt.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(events.map((event) => event.type)).toEqual([
      "turn-start",
      "tool-call",
      "tool-result",
      "turn-end",
      "turn-start",
      "turn-end",
    ]);
  });

  test("what goes wrong with a tool is an answer for the model", async () => {
    const boom = defineTool({ ...read, name: "boom", run: () => Promise.reject(new Error("secret detail")) });
    const model = scripted(
      [
        call("nope"),
        call("read", { what: 7 }, "c2"),
        { ...call("read", {}, "c3"), input: "{" } as LanguageModelV4Content,
        call("boom", {}, "c4"),
      ],
      [text("sorry")],
    );
    const { agent } = house(model, [read, boom]);
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

  test("a result that is too long is cut, and says so", async () => {
    const flood = defineTool({ ...read, name: "flood", run: async () => "x".repeat(5000) });
    const model = scripted([call("flood")], [text("much")]);
    await ask(house(model, [flood]).agent, "go");
    expect(JSON.stringify(model.asked[1]!.prompt.at(-1))).toContain("[cut: 4000 more characters]");
  });

  test("all steps used without an answer is an error", async () => {
    const model = scripted(...Array.from({ length: 5 }, (_, n) => [call("read", {}, `c${n}`)]));
    await expect(ask(house(model).agent, "go")).rejects.toMatchObject({ code: "TURN_STEP_LIMIT" });
  });

  test("an empty answer is an error, not an empty reply", async () => {
    await expect(ask(house(scripted([text("  ")])).agent, "go")).rejects.toMatchObject({ code: "TURN_FAILED" });
  });

  test("a refusal by the provider is 502 and quotes nothing of the provider", async () => {
    const refusal = Object.assign(new Error("Incorrect API key: sk-secret"), { statusCode: 401, isRetryable: false });
    const error = await ask(house(scripted(refusal)).agent, "go").catch((error: SvcError) => error as SvcError);
    expect(error).toMatchObject({ code: "MODEL_REFUSED", status: 502, message: "The model provider answered 401." });
  });

  test("a provider that is busy is asked again, after as long as it says", async () => {
    const busy = () =>
      Object.assign(new Error("busy"), { statusCode: 429, isRetryable: true, responseHeaders: { "retry-after": "7" } });
    const { agent, clock } = house(scripted(busy(), busy(), [text("now")]));
    const turn = ask(agent, "go");
    await clock.advance(6999);
    await clock.advance(1);
    await clock.advance(7000);
    expect(await turn).toMatchObject({ response: "now" });
  });
});

describe("time", () => {
  const hang = (options: LanguageModelV4CallOptions): Promise<never> =>
    new Promise((_, reject) => {
      options.abortSignal!.addEventListener("abort", () => reject(options.abortSignal!.reason as Error));
    });

  test("a turn past its limit is 504", async () => {
    const { agent, clock } = house(scripted(hang));
    const turn = expect(ask(agent, "go")).rejects.toMatchObject({ code: "TURN_TIMEOUT", status: 504 });
    await clock.advance(300_000);
    await turn;
  });

  test("a cancelled turn ends at once", async () => {
    const { agent, clock } = house(scripted(hang));
    const cancel = new AbortController();
    const turn = expect(ask(agent, "go", { signal: cancel.signal })).rejects.toMatchObject({ code: "TURN_CANCELLED" });
    await clock.advance(1);
    cancel.abort();
    await turn;
  });

  test("waiting for a person does not count", async () => {
    const { agent, clock } = house(scripted([call("act")], [text("did it")]), [act], "ask");
    let answer = (_: { approved: boolean }): void => {};
    const turn = ask(agent, "go", { ask: () => new Promise((resolve) => (answer = resolve)) });
    await clock.advance(299_000);
    answer({ approved: true });
    await clock.advance(200_000);
    expect(await turn).toMatchObject({ response: "did it" });
  });

  test("nobody answers: refused, and the turn goes on", async () => {
    const model = scripted([call("act")], [text("never mind")]);
    const { agent, clock } = house(model, [act], "ask");
    const turn = ask(agent, "go", { ask: () => new Promise(() => {}) });
    await clock.advance(300_000);
    expect(await turn).toMatchObject({ response: "never mind" });
    expect(JSON.stringify(model.asked[1]!.prompt.at(-1))).toContain("nobody answered in time");
  });

  test("nobody can be asked: refused with a sentence", async () => {
    const model = scripted([call("act")], [text("ok")]);
    await ask(house(model, [act], "ask").agent, "go");
    expect(JSON.stringify(model.asked[1]!.prompt.at(-1))).toContain("Nobody can be asked here");
  });
});

describe("idempotency keys", () => {
  const claim = { scope: "client", key: "k" };
  const claimed = (store: Store) => store.idempotency.claim(claim);

  test("a turn that answered keeps its key", async () => {
    const { agent, store } = house(scripted([text("yes")]));
    expect(claimed(store)).toBe("new");
    await ask(agent, "go", { claim });
    expect(claimed(store)).toBe("duplicate");
  });

  test("a turn that failed before anything acted gives it back, even after a reading tool", async () => {
    const { agent, store } = house(scripted([call("read")], new Error("model down")));
    claimed(store);
    await expect(ask(agent, "go", { claim })).rejects.toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(claimed(store)).toBe("new");
  });

  test("a turn that failed after something acted keeps it, and the conversation tells what happened", async () => {
    const model = scripted([call("act")], new Error("model down"), [text("so I did")]);
    const { agent, store } = house(model);
    claimed(store);
    await expect(ask(agent, "go", { claim, session: "s" })).rejects.toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(claimed(store)).toBe("duplicate");
    await ask(agent, "what happened?", { session: "s" });
    expect(model.asked.at(-1)!.prompt.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
  });

  test("a turn refused by a refused tool call acted on nothing", async () => {
    const { agent, store } = house(scripted([call("act")], new Error("down")), [act], "ask");
    claimed(store);
    await expect(ask(agent, "go", { claim })).rejects.toThrow();
    expect(claimed(store)).toBe("new");
  });
});

describe("conversations", () => {
  test("turns of one session run in order; another client's session of the same name is another one", async () => {
    const model = scripted([text("1")], [text("2")], [text("3")]);
    const { agent, store } = house(model);
    await Promise.all([ask(agent, "a", { session: "s" }), ask(agent, "b", { session: "s" })]);
    await agent.run({ clientId: "other" as ClientId, session: "s", text: "c", signal });
    expect(model.asked.map((options) => options.prompt.length)).toEqual([1, 3, 1]);
    expect(store.sessions.list({}, 10)).toHaveLength(2);
  });

  test("callers that share an owner share its sessions, and keep identities of their own", async () => {
    const model = scripted([text("1")], [text("2")]);
    const { agent, events } = house(model);
    for (const one of ["x", "y"]) {
      await agent.run({ clientId: one as ClientId, owner: "anonymous" as ClientId, session: "s", text: "a", signal });
    }
    expect(model.asked[1]!.prompt).toHaveLength(3);
    expect(events.flatMap((event) => (event.type === "turn-start" ? [event.clientId] : []))).toEqual(["x", "y"]);
  });

  test("the oldest turns leave whole when history is full", async () => {
    const model = scripted(...Array.from({ length: 4 }, () => [text("y".repeat(1200))]));
    const { agent } = house(model);
    for (const words of ["a", "b", "c", "d"]) await ask(agent, words.repeat(400), { session: "s" });
    expect(model.asked.map((options) => options.prompt.length)).toEqual([1, 3, 5, 5]);
    expect(JSON.stringify(model.asked[3]!.prompt[0])).toContain("bbbb");
  });

  test("a session goes on after a restart", async () => {
    const first = house(scripted([text("hello")]));
    await ask(first.agent, "hi", { session: "s" });
    const model = scripted([text("again")]);
    const agent = createAgent({
      config: CONFIG,
      store: first.store,
      environment: {
        tools: [],
        log: captureLogger(),
        clock: first.clock,
        store: first.store,
      } as unknown as ToolEnvironment,
      clock: first.clock,
      log: captureLogger(),
      model,
    });
    await ask(agent, "still there?", { session: "s" });
    expect(model.asked[0]!.prompt).toHaveLength(3);
  });
});
