// What becomes of a delivery: every name a field has had, our own messages, other events, files, duplicates without an id,
// senders who may not write, and bodies of anybody's making.
import { readFileSync } from "node:fs";
import type { Inbound, Json, Parsed } from "@svc/contract";
import { providerCDelivery } from "@svc/testkit/platforms/provider-c/delivery";
import { vectorCases } from "@svc/testkit/vectors";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CALLBACK_TOKEN, NOW_MS, open, requestOf } from "./open-channel.ts";

const fixture = (name: string): Json =>
  JSON.parse(readFileSync(`${import.meta.dirname}/fixtures/${name}.json`, "utf8"));

function parsed(payload: Json, allowed: readonly string[] = ["*"]): Parsed {
  const body = Buffer.from(JSON.stringify(payload));
  return open({ allowed_numbers: [...allowed] }).ingress.parse(
    requestOf({ method: "POST", query: "", headers: {}, body }),
  );
}

const only = (payload: Json, allowed?: readonly string[]): Inbound | undefined => {
  const { inbound = [] } = parsed(payload, allowed);
  expect(inbound.length).toBeLessThan(2);
  return inbound[0];
};

interface Case {
  readonly config: { readonly allowed: readonly string[] };
  readonly payload: Json;
}
interface Expected {
  readonly messages: readonly object[];
}

test.each(vectorCases<Case, Expected>("payload.provider_c"))("$name", ({ input, expected }) => {
  const { inbound = [] } = parsed(input.payload, input.config.allowed);
  const told = inbound.map(({ sender, text, conversation, sentAtMs }) => ({
    sender,
    content: text,
    reply_target: conversation.id,
    timestamp: sentAtMs === undefined ? undefined : Math.floor(sentAtMs / 1000),
  }));
  expect(told).toHaveLength(expected.messages.length);
  expect(told).toMatchObject(expected.messages);
});

test("a message with every field that is documented", () => {
  expect(only(fixture("message-received"))).toEqual({
    id: "69282478274a880fe782b2d9",
    conversation: { channel: "provider_c", id: "+8618719149214" },
    sender: "+8618719149214",
    senderName: "coubbb",
    text: "hello",
    sentAtMs: 1_764_238_453_000,
  });
});

test.each((fixture("other-events") as { eventType: string }[]).map((event) => [event.eventType, event] as const))(
  "%s is no message",
  (_, event) => {
    expect(parsed(event as Json)).toEqual({});
  },
);

const hello = { waId: "12025550123", text: "hi" };

test.each<[Json, string]>([
  [{ waId: "1", message: { text: "a" } }, "a"],
  [{ waId: "1", message: { body: "b" } }, "b"],
  [{ wa_id: "1", text: "c" }, "c"],
  [{ from: "+1", text: " d " }, "d"],
  [{ waId: "1", text: "first", message: { text: "second" } }, "first"],
  [{ waId: "1", text: "", message: { text: "", body: "third" } }, "third"],
  [{ waId: "1", type: "button", text: null, buttonReply: { text: "Yes", payload: "y" } }, "Yes"],
  [{ waId: "1", type: "interactive", interactiveButtonReply: { id: "1", title: "Tuesday" } }, "Tuesday"],
  [{ waId: "1", type: "interactive", listReply: { id: "1", title: "Large", description: "x" } }, "Large"],
])("%j says %s", (payload, text) => {
  expect(only(payload)).toMatchObject({ text, sender: "+1" });
});

test("what was picked from another program's buttons or list is marked, what was written is not", () => {
  expect(only({ waId: "1", type: "button", text: "Yes", buttonReply: { text: "Yes" } })).toHaveProperty("secondHand");
  expect(only(hello)).not.toHaveProperty("secondHand");
});

test.each<Json>([
  { fromMe: true },
  { from_me: true },
  { owner: true },
  { owner: "true" },
  { fromMe: false, owner: true },
])("what we wrote ourselves (%j) is dropped", (flags) => {
  expect(only({ ...hello, fromMe: false, from_me: false, owner: false })).toBeDefined();
  expect(parsed({ ...hello, ...(flags as object) })).toEqual({});
});

test.each<[Json, number | undefined]>([
  [1_705_320_000, 1_705_320_000_000],
  [1_705_320_000_123, 1_705_320_000_123],
  ["1705320000", 1_705_320_000_000],
  ["1705320000123", 1_705_320_000_123],
  ["2024-01-15T12:00:00Z", 1_705_320_000_000],
  ["2024-01-15T12:00:00.6268572Z", 1_705_320_000_626],
  ["2024-01-15T14:00:00+02:00", 1_705_320_000_000],
  ["soon", undefined],
  [-5, undefined],
  [1e300, undefined],
  [null, undefined],
])("the time %j is %s", (timestamp, sentAtMs) => {
  expect(only({ ...hello, timestamp })?.sentAtMs).toBe(sentAtMs);
});

test.each<Json>([{}, { timestamp: null }, { timestamp: "soon" }])(
  "the time may be told as `created`, beside %j",
  (told) => {
    const created = "2024-01-15T12:00:00Z";
    expect(only({ ...hello, created, ...(told as object) })?.sentAtMs).toBe(1_705_320_000_000);
  },
);

describe("duplicates are told", () => {
  test("by the platform's id, else by the other one", () => {
    expect(only({ ...hello, id: "a", whatsappMessageId: "b" })).toMatchObject({ id: "a" });
    expect(only({ ...hello, whatsappMessageId: "b" })).toMatchObject({ id: "b" });
    expect(only({ ...hello, id: "a" })).not.toHaveProperty("dedupeMs");
  });

  test("else by sender, time and text, for ten minutes", () => {
    const identity = (payload: Json) => only(payload)?.id;
    const first = { ...hello, timestamp: 1_705_320_000 };
    expect(only(first)).toMatchObject({ id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), dedupeMs: 600_000 });
    expect(identity({ ...first, timestamp: "2024-01-15T12:00:00Z" })).toBe(identity(first));
    for (const other of [{ text: "ho" }, { timestamp: 1_705_320_001 }, { waId: "12025550124" }]) {
      expect(identity({ ...first, ...other })).not.toBe(identity(first));
    }
  });

  test("not at all without a time", () => {
    expect(only(hello)).not.toHaveProperty("id");
    expect(only(hello)).not.toHaveProperty("dedupeMs");
  });
});

describe("a file", () => {
  const link = "https://live-c.example.test/2552/api/file/showFile?fileName=data/images/0266-ae1.jpg";

  test.each([
    ["image", "image"],
    ["voice", "audio"],
    ["audio", "audio"],
    ["video", "video"],
    ["document", "document"],
    ["sticker", "sticker"],
    ["hologram", "document"],
  ])("of the type %s is of the kind %s", (type, kind) => {
    const placeholder = `[${kind.toUpperCase()}:${link}]`;
    for (const where of [{ data: link }, { mediaUrl: link }, { media_url: link }, { data: { url: link } }]) {
      expect(only({ waId: "1", type, text: null, ...where })).toMatchObject({
        text: placeholder,
        media: [{ kind, ref: link, placeholder, fileName: "0266-ae1.jpg" }],
      });
    }
  });

  test("keeps its words, and is not told twice when the link stands in for them", () => {
    expect(only({ waId: "1", type: "image", text: "Look", data: link })?.text).toBe(`Look\n[IMAGE:${link}]`);
    expect(only({ waId: "1", type: "image", text: link, data: link })?.text).toBe(`[IMAGE:${link}]`);
  });

  test("without a link is found by its message's id", () => {
    const inbound = only({ id: "6928", waId: "1", type: "voice", text: null, data: null });
    expect(inbound).toMatchObject({ text: "[AUDIO:message:6928]", media: [{ kind: "audio", ref: "message:6928" }] });
    expect(only({ waId: "1", type: "voice" })).toBeUndefined();
    expect(only({ id: "6928", waId: "1", type: "location", data: { latitude: 1 } })).toBeUndefined();
  });

  test("a link in a text is a text", () => {
    expect(only({ id: "1", waId: "1", type: "text", text: "see", data: link })).not.toHaveProperty("media");
  });
});

test("a reaction is recorded as one", () => {
  expect(only({ id: "1", waId: "1", type: "reaction", text: "👍" })).toMatchObject({ kind: "reaction", text: "👍" });
});

test("several in one delivery are all heard, those of strangers aside", () => {
  const { inbound = [] } = parsed([hello, { ...hello, text: "two" }, { waId: "9", text: "no" }, 7], ["+12025550123"]);
  expect(inbound.map(({ text }) => text)).toEqual(["hi", "two"]);
});

test.each<[string, string[], boolean]>([
  ["12025550123", ["+1 (202) 555-0123"], true],
  ["+12025550123", ["12025550123"], true],
  ["120255501234", ["+12025550123"], false],
  ["12025550123", [], false],
  ["12025550123;drop", ["*"], false],
  ["ann@example.com", ["*"], false],
])("%s with the list %j: %s", (waId, allowed, passes) => {
  expect(only({ waId, text: "x" }, allowed) !== undefined).toBe(passes);
});

test.each(["", "{", '{"a":1}x', "[".repeat(500) + "]".repeat(500)])("%j is no JSON", (text) => {
  const request = requestOf({ method: "POST", query: "", headers: {}, body: Buffer.from(text) });
  expect(() => open().ingress.parse(request)).toThrow(expect.objectContaining({ code: "BAD_JSON" }));
});

test("no JSON of anybody's makes it throw, or lets in who may not write", () => {
  const { ingress } = open({ allowed_numbers: ["+12025550123"] });
  const anything = fc.oneof(
    fc.jsonValue() as fc.Arbitrary<Json>,
    fc.constantFrom<Json>("12025550123", "text", "image", "message", true, null, "https://live-c.example.test/a.jpg"),
  );
  const names =
    "id whatsappMessageId type waId wa_id from senderName fromMe from_me owner timestamp created text message buttonReply listReply mediaUrl media_url data";
  const event = fc.record(Object.fromEntries(names.split(" ").map((name) => [name, anything])), { requiredKeys: [] });
  fc.assert(
    fc.property(fc.oneof(event, anything, fc.array(event)), (payload) => {
      const body = Buffer.from(JSON.stringify(payload));
      const { inbound = [] } = ingress.parse(requestOf({ method: "POST", query: "", headers: {}, body }));
      for (const one of inbound) {
        expect(one.sender).toBe("+12025550123");
        expect(one.text.trim()).not.toBe("");
        expect(one.sentAtMs).not.toBeNaN();
      }
    }),
    { numRuns: cases(500) },
  );
});

test("what the testkit's platform posts, and what `svc webhook send` posts, passes and is allowed", () => {
  const { ingress } = open();
  const message = { id: "m-1", from: "+12025550123", text: "Hello", atMs: NOW_MS };
  for (const delivery of [providerCDelivery(message, CALLBACK_TOKEN), ingress.sample!(message)]) {
    expect(ingress.verify(requestOf(delivery))).toEqual({ ok: true });
    expect(ingress.parse(requestOf(delivery))).toMatchObject({
      inbound: [{ id: "m-1", text: "Hello", sender: "+12025550123", sentAtMs: NOW_MS }],
    });
  }
  const { from: _, ...nobody } = message;
  expect(ingress.parse(requestOf(ingress.sample!(nobody))).inbound).toMatchObject([{ sender: "+12025550123" }]);
  const unsigned = open({ callback_token: undefined, allowed_numbers: ["*"] }).ingress;
  expect(unsigned.sample!(nobody).query).toBe("");
  expect(unsigned.parse(requestOf(unsigned.sample!(nobody))).inbound).toHaveLength(1);
});
