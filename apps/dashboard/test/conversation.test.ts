// A conversation on the page is put together of pages, of what was just sent and of what is being answered: where they meet, a
// message is easily shown twice, or not at all.
import { describe, expect, test } from "vitest";
import type { Message } from "../src/api/shapes.ts";
import type { LiveEvent } from "../src/live/frames.ts";
import { grown, isIn, type LiveTurn, withoutKept } from "../src/views/sessions/live-turns.ts";
import { isKept } from "../src/views/sessions/sent.ts";
import { prepended, renewed } from "../src/views/sessions/transcript-pages.ts";

const message = (turn: number, role: Message["role"] = "user", text = `text ${turn}`): Message => ({
  turn_id: `t-${turn}`,
  at: `2026-01-01T00:00:${String(turn).padStart(2, "0")}.000Z`,
  role,
  text,
  calls: [],
});

describe("the transcript", () => {
  const newest = { messages: [message(3), message(4)], before: "before-3" };

  test("earlier pages come above, and stay there when the newest is read again", () => {
    const both = prepended(newest, { messages: [message(1), message(2)], before: null });
    const again = renewed(both, { messages: [message(4), message(5)], before: "before-4" });
    expect(again.messages.map(({ turn_id: id }) => id)).toEqual(["t-1", "t-2", "t-3", "t-4", "t-5"]);
    expect(again.before).toBeNull();
  });

  test("where the newest page no longer meets what is shown, only it is shown: nothing is missing in between", () => {
    const far = { messages: [message(8), message(9)], before: "before-8" };
    expect(renewed(newest, far)).toEqual(far);
    expect(renewed(undefined, newest)).toEqual(newest);
    expect(renewed(newest, { messages: [], before: null })).toEqual({ messages: [], before: null });
  });
});

describe("turns that run", () => {
  const event = (type: string, payload: object): LiveEvent => ({
    id: "b-1",
    type,
    timestamp: "",
    payload: { turn_id: "t-1", session_id: "s", device: "d", ...payload },
  });
  const all = (...events: LiveEvent[]): readonly LiveTurn[] =>
    events.reduce<readonly LiveTurn[]>((turns, one) => grown(turns, one), []);

  test("grow piece by piece, words and calls in their order", () => {
    const turns = all(
      event("turn-start", {}),
      event("text-delta", { text: "Let " }),
      event("text-delta", { text: "me look." }),
      event("tool-call", { call_id: "c", tool: "shell" }),
      event("tool-result", { call_id: "c", ok: true }),
      event("text-delta", { text: "Done." }),
    );
    expect(turns).toEqual([
      {
        id: "t-1",
        parts: [
          { kind: "text", text: "Let me look." },
          { kind: "call", callId: "c", tool: "shell", ok: true },
          { kind: "text", text: "Done." },
        ],
      },
    ]);
  });

  test("leave nothing when they fail, and nothing beside the transcript that has them", () => {
    expect(all(event("turn-start", {}), event("turn-end", { ok: false }))).toEqual([]);
    expect(all(event("turn-end", { ok: true }))).toEqual([]);
    const turns = all(event("turn-start", {}), event("turn-end", { ok: true }));
    expect(turns).toHaveLength(1);
    expect(withoutKept(turns, new Set(["t-1"]))).toEqual([]);
  });

  test("of another device are not ours, whatever its conversation is called", () => {
    expect(isIn(event("turn-start", {}), { name: "s", device: "d" })).toBe(true);
    expect(isIn(event("turn-start", {}), { name: "s", device: "other" })).toBe(false);
    expect(isIn(event("turn-start", { device: null }), { name: "s", device: null })).toBe(true);
  });
});

test("what was sent is shown until the conversation has it, also when the same was said before", () => {
  const before = [message(1, "user", "again"), message(1, "assistant", "yes")];
  const sent = { text: "again", after: "t-1", isLost: false };
  expect(isKept(sent, before)).toBe(false);
  expect(isKept(sent, [...before, message(2, "user", "again")])).toBe(true);
});
