// Work without an end, or an end without its reason: nobody could tell a turn that failed from one that hangs.
import { SvcError } from "@svc/contract";
import { createTracer } from "@svc/runtime";
import { fakeClock, settled } from "@svc/testkit/fake-clock";
import { recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import type { RecordedWork } from "@svc/testkit/observe/recording-observer";
import { describe, expect, test } from "vitest";
import {
  ask,
  call,
  failure,
  hang,
  agentFixture,
  type AgentFixtureOptions,
  read,
  scripted,
  text,
} from "./agent-fixture.ts";
import { watchedAgent } from "./watched-agent.ts";

const errorIn = ({ kind, result }: RecordedWork): string =>
  `${kind} ${result === undefined ? "has not ended" : "error" in result ? (result.error ?? "ok") : JSON.stringify(result)}`;

describe("what goes wrong has an end, with its reason", () => {
  const broken = { ...read, run: () => Promise.reject(new Error("secret words")) };
  const refusing = { ...read, run: () => Promise.reject(new SvcError("ADDRESS_REFUSED")) };
  const cases: [string, AgentFixtureOptions, string[]][] = [
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
    const { agent, recorded, thrown } = watchedAgent(options);
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
      const { agent, recorded } = watchedAgent({ model, tools: [endless] });
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
    const { agent, store, recorded } = watchedAgent({ model: scripted([text("hi")]) });
    store.write = () => Promise.reject(new SvcError("STORE_FULL"));
    expect(await failure(ask(agent, "go"))).toMatchObject({ code: "STORE_FULL" });
    expect(recorded.works.map(errorIn)).toEqual(["turn STORE_FULL", "model-call ok"]);
  });
});

test("a call that waits for a person begins when it may run; one that is refused began when it was called for", async () => {
  const answers = [true, false];
  const clock = fakeClock();
  const startMs = clock.now();
  const people: AgentFixtureOptions["ask"] = async () => {
    await clock.sleep(1000);
    return { approved: answers.shift()! };
  };
  const model = scripted([call("act", {}, "yes"), call("act", {}, "no")], [text("so")]);
  const { agent, recorded } = watchedAgent({ model, verdict: "ask", ask: people, clock });
  const asked = ask(agent, "go");
  for (let turns = 0; turns < 30; turns += 1) await settled();
  for (let passed = 0; passed < 2500; passed += 500) {
    await clock.advance(500);
    for (let turns = 0; turns < 30; turns += 1) await settled();
  }
  await asked;
  const times = recorded
    .of("tool-call")
    .map((work) => [work.facts.callId, work.startedAtMs, work.endedAtMs, errorIn(work)]);
  expect(times).toEqual([
    ["yes", startMs + 1000, startMs + 1000, "tool-call ok"],
    ["no", startMs + 1000, startMs + 2000, "tool-call TOOL_REJECTED"],
  ]);
});

test.each(["begin", "content", "end"] as const)("an observer that throws at %s disturbs nobody", async (when) => {
  const { tracer, thrown } = throwing(when);
  const { agent, store } = agentFixture({ model: scripted([call("read")], [text("done")]), tracer });
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
  const tracer = createTracer({
    clock: fakeClock(),
    observers: () => [{ feature: "bad", observer }],
    threw: (_feature, error) => void thrown.push(error),
  });
  return { tracer, thrown };
}
