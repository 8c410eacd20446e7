// The observer that tests look through: a tree of work, the same ids in every run, and loud about a broken contract.
import { isTraceparent } from "@svc/contract";
import { fakeClock } from "../src/fake-clock.ts";
import { recordedInstruments } from "../src/observe/recorded-tracer.ts";
import { recordingObserver } from "../src/observe/recording-observer.ts";
import { expect, test } from "vitest";

const TURN = { turnId: "t", sessionId: "s", agent: "main", model: "m", channel: undefined };
const ENDED = { error: undefined, inputTokens: 1, outputTokens: 2, costUsd: undefined };

test("work inside of work is its child, and what runs elsewhere is not", () => {
  const { tracer, recorded } = recordedInstruments(fakeClock());
  const turn = tracer.begin("turn", TURN);
  const call = turn.during(() => tracer.begin("tool-call", { tool: "word_count", callId: "c" }));
  call.during(() => tracer.begin("command", { backend: "none" }));
  tracer.begin("inbox", { channel: "provider-a", messageId: "in-1" });
  expect(recorded.tree()).toEqual(["turn", "  tool-call", "    command", "inbox"]);
  expect(recorded.works.every(({ traceparent }) => isTraceparent(traceparent ?? ""))).toBe(true);
  const traces = recorded.works.map(({ traceparent }) => traceparent?.slice(3, 35));
  expect(new Set(traces).size).toBe(2);
});

test("what has not ended is open", () => {
  const { tracer, recorded } = recordedInstruments(fakeClock());
  const turn = tracer.begin("turn", TURN);
  const inner = turn.during(() => tracer.begin("tool-call", { tool: "word_count", callId: "c" }));
  inner.end({ error: "TOOL_FAILED" });
  expect(recorded.open.map(({ kind }) => kind)).toEqual(["turn"]);
  turn.end(ENDED);
  expect(recorded.open).toEqual([]);
  expect(recorded.of("tool-call")[0]?.result?.error).toBe("TOOL_FAILED");
});

test("one that only counts gives out nothing, and wants no words unless it is told to", () => {
  const counting = recordedInstruments(fakeClock(), { traces: false });
  const counted = counting.tracer.begin("turn", TURN);
  expect(counted).toMatchObject({ traceparent: undefined, wantsContent: false });
  const reading = recordedInstruments(fakeClock(), { content: true });
  const read = reading.tracer.begin("turn", TURN);
  read.content("input", "hello");
  expect(reading.recorded.of("turn")[0]?.content).toEqual([{ direction: "input", said: "hello" }]);
});

test("an end after the end, words after it and a parent that is none are told", () => {
  const observer = recordingObserver({ content: true });
  const work = { kind: "turn", facts: TURN, parent: undefined, startedAtMs: 0 } as const;
  const watch = observer.begin?.(work);
  watch?.end(ENDED, 1);
  expect(() => watch?.end(ENDED, 2)).toThrow("twice");
  expect(() => watch?.content?.("output", "late")).toThrow("after its end");
  expect(() => observer.begin?.({ ...work, parent: "00-zz" })).toThrow("a parent that is none");
});
