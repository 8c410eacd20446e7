// Two conversations in one lane would see each other's history: ids are the platform's and hold any character.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { laneOf } from "../src/index.ts";

const part = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("a", ",", '"', "]", "\\", "\n", "\u0000", "\uD800"), { maxLength: 4 })
    .map((all) => all.join("")),
);
const conversation = fc.record({ channel: part, id: part, thread: part }, { requiredKeys: ["channel", "id"] });

test("one lane for each conversation, and the same one every time", () => {
  fc.assert(
    fc.property(conversation, conversation, (one, other) => {
      const isSame = one.channel === other.channel && one.id === other.id && one.thread === other.thread;
      expect(laneOf(one) === laneOf(other)).toBe(isSame);
      expect(laneOf({ ...one })).toBe(laneOf(one));
    }),
    { numRuns: 2_000 },
  );
});

test("no thread is another lane than a thread without a name", () => {
  expect(laneOf({ channel: "c", id: "i" })).not.toBe(laneOf({ channel: "c", id: "i", thread: "" }));
});
