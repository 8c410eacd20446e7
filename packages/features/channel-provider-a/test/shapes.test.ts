// No shape of a delivery may be an error: the platform would post it again for a week.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fixture, harness, NOW_MS, parsed, post } from "./harness.ts";

describe("anything at all", () => {
  test("JSON of any shape is no error", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parsed(text)).toEqual({ inbound: [], updates: [] });
      }),
    );
  });

  /** A genuine delivery in which one value, anywhere, is something else. */
  const damaged = fc
    .tuple(
      fc.constantFrom(
        "text",
        "image",
        "location",
        "interactive-list",
        "interactive-prompt",
        "reaction",
        "status-failed",
      ),
      fc.nat(),
      fc.oneof(fc.jsonValue(), fc.constant({ toString: "", valueOf: 1, length: -1 })),
    )
    .map(([name, place, instead]) => {
      let count = 0;
      const values = fixture(name).match(/": /g)?.length ?? 1;
      const payload: unknown = JSON.parse(fixture(name), (key, value: unknown) => {
        if (key === "") return value;
        count += 1;
        return count === place % values ? instead : value;
      });
      return JSON.stringify(payload);
    });

  test("what comes of it can always be kept and answered", () => {
    fc.assert(
      fc.property(damaged, (text) => {
        const { inbound = [], updates = [] } = parsed(text);
        for (const message of inbound) {
          expect(message.sender).toMatch(/^\+\d{1,20}$|^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/);
          expect(typeof message.text).toBe("string");
          expect(message.sentAtMs).toBeLessThan(8.64e15);
          expect(message.conversation.id).not.toBe("");
          for (const { placeholder } of message.media ?? []) expect(message.text).toContain(placeholder);
        }
        for (const { status } of updates) expect(["sent", "delivered", "read", "failed"]).toContain(status);
      }),
      { numRuns: cases(500) },
    );
  });

  test.each(["", "{", "\uFEFF{}", "[".repeat(1000), '{"entry":'])("%s is no JSON: 400", (body) => {
    expect(() => parsed(body)).toThrow(expect.objectContaining({ code: "BAD_JSON" }));
  });

  test("bytes that are no UTF-8: 400", () => {
    expect(() => harness().ingress.parse(post(new Uint8Array([0x22, 0xff, 0x22])))).toThrow(
      expect.objectContaining({ code: "BAD_JSON" }),
    );
  });
});

test.each([
  ["constructor", {}],
  ["__proto__", {}],
  ["text", "a string"],
  ["text", { body: "   " }],
  ["image", { id: "" }],
  ["image", {}],
  ["location", { latitude: "north", longitude: 1 }],
  ["interactive", { type: "button_reply" }],
  ["button", {}],
  [7, {}],
])("a message of the type %s that says nothing is dropped", (type, content) => {
  const payload = { entry: [{ changes: [{ value: { messages: [{ from: "1", id: "w", type, [type]: content }] } }] }] };
  expect(parsed(JSON.stringify(payload)).inbound).toEqual([]);
});

test("a text without a type, an id or a time is still a message", () => {
  const payload = {
    entry: [{ changes: [{ value: { messages: [{ from: "1234567890", text: { body: "Hello" } }] } }] }],
  };
  expect(parsed(JSON.stringify(payload)).inbound).toEqual([
    {
      conversation: { channel: "provider_a", id: "+1234567890" },
      sender: "+1234567890",
      text: "Hello",
      sentAtMs: NOW_MS,
    },
  ]);
});

test.each(["12a", "+", "1".repeat(21), "+1+2", " 1", "../1", 15, null])("from %j is no sender", (from) => {
  const payload = { entry: [{ changes: [{ value: { messages: [{ from, text: { body: "Hello" } }] } }] }] };
  expect(parsed(JSON.stringify(payload)).inbound).toEqual([]);
});
