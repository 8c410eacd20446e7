// What observers are told of a turn: work without an end, an end without a reason, a person's words where nobody wanted them.
import { defineTool, type ExecResult, type Json, SvcError } from "@svc/contract";
import { createInstruments, currentScope, inScope } from "@svc/kernel";
import { type RecordedWork, recordedInstruments, type RecordingOptions, fakeClock, settled } from "@svc/testkit";
import { describe, expect, test } from "vitest";
import * as v from "valibot";
import { createExec } from "../src/index.ts";
import { ask, call, counting, failure, gate, hang, house, type HouseOptions, read, scripted, text } from "./house.ts";

const PRICED = { provider: "openai", name: "m-1", price: { input_per_million: 1e6, output_per_million: 1e6 } } as const;

function watchedHouse(options: HouseOptions = {}, recording: RecordingOptions = {}) {
  const clock = options.clock ?? fakeClock();
  const watched = recordedInstruments(clock, recording);
  return { ...watched, ...house({ ...options, clock, instruments: watched.instruments }) };
}

const errorIn = ({ kind, result }: RecordedWork): string =>
  `${kind} ${result === undefined ? "has not ended" : "error" in result ? (result.error ?? "ok") : JSON.stringify(result)}`;

describe("a turn", () => {
  test("has its calls of model and tools in it, each with what it was, what it cost and how it ended", async () => {
    const model = scripted([call("read", { what: "x" }), call("act")], [text("done")]);
    const { agent, recorded, clock } = watchedHouse({ model, config: { model: PRICED } });
    const { turnId, sessionId } = await ask(agent, "go", { session: "s" });
    expect(recorded.tree()).toEqual(["turn", "  model-call", "  tool-call", "  tool-call", "  model-call"]);
    const ended = { endedAtMs: clock.now(), startedAtMs: clock.now() };
    expect(recorded.of("turn")).toMatchObject([
      {
        ...ended,
        parent: undefined,
        facts: { turnId, sessionId, agent: "default", model: "m-1", channel: undefined },
        result: { error: undefined, inputTokens: 20, outputTokens: 10, costUsd: 30 },
      },
    ]);
    const asked = { provider: "openai", model: "m-1", agent: "default" };
    const cost = { error: undefined, inputTokens: 10, outputTokens: 5, costUsd: 15 };
    expect(recorded.of("model-call")).toMatchObject([
      { facts: { ...asked, step: 0 }, result: cost },
      { facts: { ...asked, step: 1 }, result: cost },
    ]);
    expect(recorded.of("tool-call")).toMatchObject([
      { facts: { tool: "read", callId: "call-read" }, result: { error: undefined } },
      { facts: { tool: "act", callId: "call-act" }, result: { error: undefined } },
    ]);
    expect(recorded.works.flatMap(({ content }) => content)).toEqual([]);
  });

  test("is part of what asked for it, and is told where its message came from", async () => {
    const { agent, instruments, recorded } = watchedHouse({ model: scripted([text("hi")]) });
    const request = instruments.begin("request", { method: "POST", route: "/webhook" });
    await request.during(() => ask(agent, "go", { channel: "chat" }));
    expect(recorded.of("turn")[0]).toMatchObject({ parent: request.traceparent, facts: { channel: "chat" } });
  });

  test("says whose its lines are: its own, of the request that asked for it, and of nobody else's", async () => {
    const seen: unknown[] = [];
    const look = { ...read, run: async () => (seen.push(currentScope()), "seen") };
    const hold = gate();
    const model = scripted(
      async () => (await hold.opened, [call("read")]),
      [text("one")],
      [call("read")],
      [text("two")],
    );
    const { agent } = house({ model, tools: [look] });
    const asked = ["r-1", "r-2"].map((request) => inScope({ request }, () => ask(agent, "go", { session: "s" })));
    hold.open();
    const [one, two] = await Promise.all(asked);
    expect(seen).toEqual([
      { request: "r-1", turn: one!.turnId },
      { request: "r-2", turn: two!.turnId },
    ]);
    expect(currentScope()).toEqual({});
  });

  test("that is taken up has used what it used itself", async () => {
    const resumable = { turnId: "t-1", resumable: true, session: "s" };
    const model = scripted([call("act")], new Error("down"));
    const { agent, recorded, store, clock, instruments } = watchedHouse({ model, config: { model: PRICED } });
    expect(await failure(ask(agent, "go", resumable))).toMatchObject({ code: "MODEL_UNREACHABLE" });
    const next = house({ model: scripted([text("done")]), config: { model: PRICED }, store, clock, instruments });
    expect(await ask(next.agent, "go", resumable)).toMatchObject({ inputTokens: 20, costUsd: 30 });
    expect(recorded.of("turn").map(({ result }) => result)).toEqual([
      { error: "MODEL_UNREACHABLE", inputTokens: 10, outputTokens: 5, costUsd: 15 },
      { error: undefined, inputTokens: 10, outputTokens: 5, costUsd: 15 },
    ]);
  });

  test("of an uncounted call costs nobody knows what", async () => {
    const model = counting({ in: undefined, out: 3 }, [text("hi")]);
    const { agent, recorded } = watchedHouse({ model, config: { model: PRICED } });
    await ask(agent, "go");
    const unknown = { error: undefined, inputTokens: 0, outputTokens: 3, costUsd: undefined };
    expect(recorded.works.map(({ result }) => result)).toEqual([unknown, unknown]);
  });
});

describe("what goes wrong has an end, with its reason", () => {
  const broken = { ...read, run: () => Promise.reject(new Error("secret words")) };
  const refusing = { ...read, run: () => Promise.reject(new SvcError("ADDRESS_REFUSED")) };
  const cases: [string, HouseOptions, string[]][] = [
    [
      "a provider that can't be understood",
      { model: scripted(new Error("no")) },
      ["turn MODEL_UNREACHABLE", "model-call MODEL_UNREACHABLE"],
    ],
    [
      "a tool that fails unexpectedly",
      { model: scripted([call("read")], [text("so")]), tools: [broken] },
      ["turn ok", "model-call ok", "tool-call TOOL_FAILED", "model-call ok"],
    ],
    [
      "a tool that says why",
      { model: scripted([call("read")], [text("so")]), tools: [refusing] },
      ["turn ok", "model-call ok", "tool-call ADDRESS_REFUSED", "model-call ok"],
    ],
    [
      "the policy",
      { model: scripted([call("act")], [text("so")]), verdict: "refuse" },
      ["turn ok", "model-call ok", "tool-call TOOL_REFUSED", "model-call ok"],
    ],
    [
      "words that are no input",
      { model: scripted([{ ...call("read"), input: "{" } as never], [text("so")]) },
      ["turn ok", "model-call ok", "tool-call TOOL_BAD_INPUT", "model-call ok"],
    ],
    [
      "a tool that there is not, whose name nobody has to count",
      { model: scripted([call("made_up")], [text("so")]) },
      ["turn ok", "model-call ok", "model-call ok"],
    ],
    ["an empty answer", { model: scripted([text(" ")]) }, ["turn TURN_FAILED", "model-call ok"]],
  ];
  test.each(cases)("%s", async (_what, options, ends) => {
    const { agent, recorded, thrown } = watchedHouse(options);
    await ask(agent, "go").catch(() => {});
    expect(recorded.works.map(errorIn)).toEqual(ends);
    expect(thrown).toEqual([]);
  });

  test("a turn that is stopped, in the middle of a model's answer or of a tool", async () => {
    const endless = {
      ...read,
      run: (_: unknown, { signal }: { signal: AbortSignal }) => hang({ abortSignal: signal } as never),
    };
    for (const model of [scripted(hang), scripted([call("read")])]) {
      const { agent, recorded } = watchedHouse({ model, tools: [endless] });
      const asked = failure(ask(agent, "go", { session: "s" }));
      await settled();
      await settled();
      agent.stop("client" as never, "s", "a test");
      expect(await asked).toMatchObject({ code: "TURN_CANCELLED" });
      expect(recorded.open).toEqual([]);
      expect(recorded.of("turn").map(errorIn)).toEqual(["turn TURN_CANCELLED"]);
      expect(errorIn(recorded.works.at(-1)!)).toMatch(/(model|tool)-call TURN_CANCELLED/);
    }
  });

  test("a turn that a disk can't keep", async () => {
    const { agent, store, recorded } = watchedHouse({ model: scripted([text("hi")]) });
    store.write = () => Promise.reject(new SvcError("STORE_FULL"));
    expect(await failure(ask(agent, "go"))).toMatchObject({ code: "STORE_FULL" });
    expect(recorded.works.map(errorIn)).toEqual(["turn STORE_FULL", "model-call ok"]);
  });
});

test("a call that waits for a person begins when it may run; one that is refused began when it was called for", async () => {
  const answers = [true, false];
  const clock = fakeClock();
  const startMs = clock.now();
  const people: HouseOptions["ask"] = async () => {
    await clock.sleep(1000);
    return { approved: answers.shift()! };
  };
  const model = scripted([call("act", {}, "yes"), call("act", {}, "no")], [text("so")]);
  const { agent, recorded } = watchedHouse({ model, verdict: "ask", ask: people, clock });
  const asked = ask(agent, "go");
  for (let passed = 0; passed < 2500; passed += 500) {
    await clock.advance(500);
    for (let turns = 0; turns < 10; turns += 1) await settled();
  }
  await asked;
  const times = recorded
    .of("tool-call")
    .map((work) => [work.facts.callId, work.startedAtMs, work.endedAtMs, errorIn(work)]);
  expect(times).toEqual([
    ["yes", startMs + 1000, startMs + 1000, "tool-call ok"],
    ["no", startMs + 1000, startMs + 2000, "tool-call TOOL_REFUSED"],
  ]);
});

describe("words", () => {
  const SECRET = "hunter2";
  const redact = (words: string): string => words.replaceAll(SECRET, "[secret]");
  const tell = { ...read, run: async (): Promise<Json> => ({ password: SECRET }) };

  test("are told to who wants them, without secrets: question and answer, messages, input and result", async () => {
    const model = scripted([text(`use ${SECRET}`), call("read", { what: SECRET })], [text(`it is ${SECRET}`)]);
    const { agent, recorded } = watchedHouse({ model, tools: [tell], redact }, { content: true });
    await ask(agent, `my word is ${SECRET}`);
    const said = (kind: RecordedWork["kind"]) => recorded.of(kind).map(({ content }) => content.map((one) => one.said));
    expect(said("turn")).toEqual([["my word is [secret]", "it is [secret]"]]);
    expect(said("tool-call")).toEqual([[{ what: "[secret]" }, { password: "[secret]" }]]);
    const [first, second] = said("model-call");
    expect(first![0]).toEqual([{ role: "user", content: [{ type: "text", text: "my word is [secret]" }] }]);
    expect(first![1]).toMatchObject([
      { type: "text", text: "use [secret]" },
      { type: "tool-call", toolName: "read" },
    ]);
    expect((second![0] as Json[]).length).toBe(3);
    expect(second![1]).toEqual([{ type: "text", text: "it is [secret]" }]);
    expect(JSON.stringify(recorded.works)).not.toContain(SECRET);
  });

  test("are told to nobody else", async () => {
    const model = scripted([call("read", { what: SECRET })], [text(SECRET)]);
    const { agent, recorded } = watchedHouse({ model, tools: [tell] });
    await ask(agent, SECRET);
    expect(JSON.stringify([recorded.works, recorded.events])).not.toContain(SECRET);
  });
});

test.each(["begin", "content", "end"] as const)("an observer that throws at %s disturbs nobody", async (when) => {
  const { instruments, thrown } = throwing(when);
  const { agent, store } = house({ model: scripted([call("read")], [text("done")]), instruments });
  expect(await ask(agent, "go")).toMatchObject({ response: "done", inputTokens: 20 });
  expect(store.sessions.list({}, 2)).toMatchObject([{ turns: 1 }]);
  expect(thrown.length).toBeGreaterThan(0);
});

function throwing(when: "begin" | "content" | "end") {
  const { recorded } = recordedInstruments(fakeClock(), { content: true });
  const thrown: unknown[] = [];
  const fail = (): never => {
    throw new Error("an observer's own");
  };
  const observer: typeof recorded = {
    ...recorded,
    begin: (work) => {
      if (when === "begin") fail();
      return {
        ...recorded.begin!(work)!,
        ...(when === "content" && { content: fail }),
        ...(when === "end" && { end: fail }),
      };
    },
  };
  const instruments = createInstruments({
    clock: fakeClock(),
    observers: () => [{ feature: "bad", observer }],
    threw: (_feature, error) => void thrown.push(error),
  });
  return { instruments, thrown };
}

describe("a command", () => {
  const END: ExecResult = { exitCode: 0, signal: null, stdout: "", stderr: "", truncated: false, timedOut: false };
  const ends: [string, Partial<ExecResult> | Error, object][] = [
    ["exits", { exitCode: 3 }, { outcome: "exited", exitCode: 3 }],
    ["is killed", { exitCode: null, signal: "SIGKILL" }, { outcome: "signalled", exitCode: undefined }],
    [
      "takes too long",
      { exitCode: null, signal: "SIGTERM", timedOut: true },
      { outcome: "timed-out", exitCode: undefined },
    ],
    ["does not begin", new SvcError("SANDBOX_UNAVAILABLE"), { outcome: "failed", exitCode: undefined }],
  ];
  test.each(ends)("that %s is part of the call that made it", async (_what, end, result) => {
    const watched = recordedInstruments(fakeClock());
    const exec = createExec({
      backend: {
        id: "userns",
        probe: async () => ({ available: true }),
        open: async () => ({
          exec: async () => {
            if (end instanceof Error) throw end;
            return { ...END, ...end };
          },
          close: async () => {},
        }),
      },
      config: { network: false, timeout_secs: 1 } as never,
      workspace: "/",
      hidden: [],
      instruments: watched.instruments,
    });
    const shell = defineTool({
      name: "shell",
      description: "runs",
      input: v.object({}),
      approval: "auto",
      run: async (_, context) => (await context.exec({ command: "true" })).exitCode,
    });
    const model = scripted([call("shell")], [text("so")]);
    const { agent } = house({ model, tools: [shell], exec, instruments: watched.instruments });
    await ask(agent, "go");
    expect(watched.recorded.tree()).toEqual(["turn", "  model-call", "  tool-call", "    command", "  model-call"]);
    expect(watched.recorded.of("command")).toMatchObject([{ facts: { backend: "userns" }, result }]);
  });
});
