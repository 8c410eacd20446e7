// A conversation is joined from stored pages and running answers: where they meet, a
// message is easily shown twice, or not at all.
import type { SessionMessage } from "@svc/api";
import { describe, expect, test } from "vitest";
import type { Listener, LiveEvent } from "../src/client/live.ts";
import { sentenceOf } from "../src/views/events.tsx";
import { type LiveTurn, LiveTurns, grown, partsOf, withoutEnded } from "../src/views/conversation/live-turns.ts";
import { prepended, renewed, turnsOf } from "../src/views/conversation/transcript.ts";

const message = (turn: number, role: SessionMessage["role"] = "user", text = `text ${turn}`): SessionMessage => ({
  turn_id: `t-${turn}`,
  at: `2026-01-01T00:00:${String(turn).padStart(2, "0")}.000Z`,
  role,
  text,
  files: [],
  calls: [],
  state: "done",
  kind: "message",
  author: null,
  replaced: false,
  problem: null,
});

describe("the transcript", () => {
  const newest = { messages: [message(3), message(4)], before: "before-3", newest: null };

  test("keeps earlier pages above when the newest is read again", () => {
    const both = prepended(newest, { messages: [message(1), message(2)], before: null, newest: null });
    const again = renewed(both, { messages: [message(4), message(5)], before: "before-4", newest: null });
    expect(again.messages.map(({ turn_id: id }) => id)).toEqual(["t-1", "t-2", "t-3", "t-4", "t-5"]);
    expect(again.before).toBeNull();
  });

  test("shows only the newest page if it no longer overlaps the shown ones", () => {
    const far = { messages: [message(8), message(9)], before: "before-8", newest: null };
    expect(renewed(newest, far)).toEqual(far);
    expect(renewed(undefined, newest)).toEqual(newest);
    const empty = { messages: [], before: null, newest: null };
    expect(renewed(newest, empty)).toEqual(empty);
  });
});

describe("running turns", () => {
  const event = (type: string, payload: object): LiveEvent => ({
    id: "b-1",
    type,
    timestamp: "",
    payload: { turn_id: "t-1", session_id: "s", conversation_id: "c", ...payload },
  });
  const all = (...events: LiveEvent[]): readonly LiveTurn[] =>
    events.reduce<readonly LiveTurn[]>((turns, one) => grown(turns, one), []);
  const running = (more: Partial<SessionMessage>): SessionMessage => ({ ...message(1), state: "running", ...more });
  const call = { call_id: "c", tool: "shell", input: {}, ok: false, outcome: "failed" as const, output: null };

  test("grow by deltas, with texts and calls in order", () => {
    const turns = all(
      event("turn-start", {}),
      event("text-delta", { text: "Let ", offset: 0 }),
      event("text-delta", { text: "me look.", offset: 4 }),
      event("tool-call", { call_id: "c", tool: "shell" }),
      event("tool-result", { call_id: "c", ok: true }),
      event("text-delta", { text: "Done.", offset: 12 }),
    );
    expect(partsOf([running({})], turns[0])).toEqual([
      { kind: "text", text: "Let me look.", offset: 0 },
      { kind: "call", callId: "c", tool: "shell", ok: true },
      { kind: "text", text: "Done.", offset: 12 },
    ]);
  });

  test("show reason, time and number of a model retry until it starts", () => {
    const waiting = event("turn-waiting", {
      message: "The model provider's rate limit is reached (429).",
      retry_in_ms: 7000,
      attempt: 2,
      attempts: 4,
    });
    const [turn] = grown(all(event("turn-start", {})), waiting, 1_000);
    expect(turn).toEqual({
      id: "t-1",
      parts: [],
      isWhole: true,
      isOver: false,
      waiting: {
        message: "The model provider's rate limit is reached (429).",
        untilMs: 8_000,
        attempt: 2,
        attempts: 4,
      },
    });
    expect(grown([turn!], event("text-delta", { text: "Now.", offset: 0 }), 9_000)).toEqual([
      { id: "t-1", parts: [{ kind: "text", text: "Now.", offset: 0 }], isWhole: true, isOver: false },
    ]);
    expect(sentenceOf(waiting)).toBe("The model provider's rate limit is reached (429). Trying again in 7 s.");
  });

  test("join the stored state and later events without doubles if their start was missed", () => {
    const read = [
      running({}),
      running({ role: "assistant", text: "Let me look.", calls: [call] }),
      running({ role: "assistant", text: "Do" }),
    ];
    const before = [
      { kind: "text", text: "Let me look.", offset: 0 },
      { kind: "call", callId: "c", tool: "shell", ok: undefined },
    ];
    expect(partsOf(read, undefined)).toEqual([...before, { kind: "text", text: "Do", offset: 12 }]);
    const since = all(
      event("tool-result", { call_id: "other", ok: true }),
      event("text-delta", { text: "Don", offset: 12 }),
      event("text-delta", { text: "e.", offset: 15 }),
    );
    expect(partsOf(read, since[0])).toEqual([...before, { kind: "text", text: "Done.", offset: 12 }]);
    const result = all(
      event("tool-result", { call_id: "c", ok: true }),
      event("tool-call", { call_id: "c", tool: "shell" }),
    );
    expect(partsOf(read, result[0]).filter(({ kind }) => kind === "call")).toHaveLength(1);
  });

  test("stay until the stored messages contain their end", () => {
    const ended = all(event("turn-start", {}), event("turn-end", { ok: false }));
    expect(all(event("turn-end", { ok: true }))).toEqual([]);
    expect(withoutEnded(ended, [running({})])).toBe(ended);
    expect(withoutEnded(ended, [{ ...message(1), state: "failed" }])).toEqual([]);
    // Removed, or never stored.
    expect(withoutEnded(ended, [])).toEqual([]);
    const begun = all(event("turn-start", {}));
    expect(withoutEnded(begun, [])).toBe(begun);
  });
});

test("renders deltas once per frame and other events at once", () => {
  const listeners: Listener[] = [];
  const frames: (() => void)[] = [];
  const live = {
    listen: (listener: Listener) => {
      listeners.push(listener);
      return () => {};
    },
  };
  const book = new LiveTurns(live, (draw) => void frames.push(draw));
  let draws = 0;
  book.changes.follow(() => (draws += 1));
  const tell = (type: string, payload: object = {}): void =>
    listeners[0]!.event?.({
      id: "b-1",
      type,
      timestamp: "",
      payload: { turn_id: "t", conversation_id: "c", ...payload },
    });
  const said = (): readonly string[] =>
    book.of("c").flatMap(({ parts }) => parts.map((one) => (one.kind === "text" ? one.text : "")));
  tell("turn-start");
  expect(draws).toBe(1);
  for (let n = 0; n < 1000; n += 1) tell("text-delta", { text: "x", offset: n });
  expect([draws, frames.length, said()]).toEqual([1, 1, ["x".repeat(1000)]]);
  frames.shift()!();
  expect(draws).toBe(2);
  tell("text-delta", { text: "y", offset: 1000 });
  tell("tool-call", { call_id: "1", tool: "shell" });
  expect(draws).toBe(3);
  // It was drawn with the call.
  frames.shift()!();
  expect(draws).toBe(3);
  tell("text-delta", { text: "z", offset: 1001 });
  tell("events-dropped");
  expect([draws, said()]).toEqual([4, []]);
});

test("groups messages by turn, earlier attempts separately", () => {
  const messages = [message(1), message(1, "assistant"), message(2), message(1)];
  expect(turnsOf(messages).map(({ id, messages }) => [id, messages.length])).toEqual([
    ["t-1", 2],
    ["t-2", 1],
    ["t-1", 1],
  ]);
});
