// Two conversations with one key would see each other's history: ids are the platform's and hold any character.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { keyOfConversation, keysOfChat } from "../src/index.ts";

const part = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("a", ",", '"', "]", "\\", "\n", "\u0000", "\uD800"), { maxLength: 4 })
    .map((all) => all.join("")),
);
const conversation = fc.record({ channel: part, id: part, thread: part }, { requiredKeys: ["channel", "id"] });

test("one key for each conversation, and the same one every time", () => {
  fc.assert(
    fc.property(conversation, conversation, (one, other) => {
      const isSame = one.channel === other.channel && one.id === other.id && one.thread === other.thread;
      expect(keyOfConversation(one) === keyOfConversation(other)).toBe(isSame);
      expect(keyOfConversation({ ...one })).toBe(keyOfConversation(one));
    }),
    { numRuns: cases(2_000) },
  );
});

test("no thread has another key than a thread without a name", () => {
  expect(keyOfConversation({ channel: "c", id: "i" })).not.toBe(
    keyOfConversation({ channel: "c", id: "i", thread: "" }),
  );
});

test("the keys of a chat are those of its threads, and no other's", () => {
  const isIn = (key: string, { from, before }: ReturnType<typeof keysOfChat>): boolean => {
    const bytes = Buffer.from(key);
    return Buffer.compare(Buffer.from(from), bytes) <= 0 && Buffer.compare(bytes, Buffer.from(before)) < 0;
  };
  fc.assert(
    fc.property(conversation, conversation, (one, other) => {
      expect(isIn(keyOfConversation(one), keysOfChat(one))).toBe(true);
      expect(isIn(keyOfConversation(other), keysOfChat(one))).toBe(
        one.channel === other.channel && one.id === other.id,
      );
    }),
    { numRuns: cases(2_000) },
  );
  const { id } = { id: "room\\" };
  expect(isIn(keyOfConversation({ channel: "c", id: 'room\\"x' }), keysOfChat({ channel: "c", id }))).toBe(false);
});
