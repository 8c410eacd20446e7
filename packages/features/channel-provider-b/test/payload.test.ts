// Reading a delivery: both versions, our own messages under each flag, other events, senders who are not allowed, and
// arbitrary bodies.
import { readFileSync } from "node:fs";
import type { Inbound, Json, Parsed } from "@svc/contract";
import { providerBDelivery } from "@svc/testkit/platforms/provider-b/delivery";
import { vectorCases } from "@svc/testkit/vectors";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW_MS, open, requestOf, SECRET } from "./open-channel.ts";

const fixture = (name: string): Json =>
  JSON.parse(readFileSync(`${import.meta.dirname}/fixtures/${name}.json`, "utf8"));

function parsed(payload: Json | string, allowed: readonly string[] = ["*"]): Parsed {
  const body = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
  const { ingress } = open({ allowed_senders: [...allowed] });
  return ingress.parse(requestOf({ method: "POST", query: "", headers: {}, body })) as Parsed;
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
  readonly messages: readonly { readonly sender: string; readonly content: string; readonly reply_target: string }[];
}

test.each(vectorCases<Case, Expected>("payload.provider_b"))("$name", ({ input, expected }) => {
  const { inbound = [] } = parsed(input.payload, input.config.allowed);
  const messages = inbound.map(({ sender, text, conversation }) => ({
    sender,
    content: text,
    reply_target: conversation.id,
  }));
  expect(messages).toEqual(expected.messages);
});

describe("version 2026-02-03, with every documented field", () => {
  const received = fixture("received-2026-02-03") as { readonly data: { readonly parts: readonly Json[] } };

  test("becomes a message with its parts in order", () => {
    expect(only(received)).toEqual({
      id: "89e3566e-1d13-49e5-a8ee-48490d5bfeb7",
      conversation: { channel: "provider_b", id: "8f392755-6865-4b18-880a-227f9d8b458f" },
      sender: "+12025550123",
      text: [
        "Have a look",
        "[IMAGE:https://cdn.linqapp.com/attachments/6b0f6c9e/IMG_0042.HEIC?signature=abc]",
        "[AUDIO:https://cdn.linqapp.com/attachments/c1a7a7a4/audio.caf]",
        "[DOCUMENT:https://cdn.linqapp.com/attachments/c1a7a7a4/offer.pdf]",
        "https://example.com/offer",
        "Where to?",
      ].join("\n"),
      media: [
        {
          kind: "image",
          ref: "https://cdn.linqapp.com/attachments/6b0f6c9e/IMG_0042.HEIC?signature=abc",
          placeholder: "[IMAGE:https://cdn.linqapp.com/attachments/6b0f6c9e/IMG_0042.HEIC?signature=abc]",
          mimeType: "image/heic",
          fileName: "IMG_0042.HEIC",
        },
        expect.objectContaining({ kind: "audio", mimeType: "audio/x-caf", fileName: "Audio Message.caf" }),
        expect.objectContaining({ kind: "document", mimeType: "application/pdf", fileName: "offer.pdf" }),
      ],
      secondHand: true,
      sentAtMs: Date.UTC(2026, 1, 5, 19, 31, 13, 74),
      replyData: { to: "+12025550123" },
    });
  });

  test("loses an invalid part, and nothing else", () => {
    const odd = [null, 7, { type: "media", url: 5 }, { type: "media", url: "no url" }, { type: "hologram" }, {}];
    const parts = [...odd, ...received.data.parts.slice(0, 1)];
    expect(only({ ...received, data: { ...received.data, parts } })).toMatchObject({ text: "Have a look" });
  });
});

test("reads version 2025-01-01 with every documented field; a group has no replyData", () => {
  const inbound = only(fixture("received-2025-01-01"));
  expect(inbound).toEqual({
    id: "89e3566e-1d13-49e5-a8ee-48490d5bfeb8",
    conversation: { channel: "provider_b", id: "8f392755-6865-4b18-880a-227f9d8b458f" },
    sender: "+12025550123",
    group: true,
    text: "Hello from SMS\n[VIDEO:https://cdn.linqapp.com/attachments/6b0f6c9e/clip.mov]",
    media: [expect.objectContaining({ kind: "video", fileName: "clip.mov" })],
    sentAtMs: Date.UTC(2026, 1, 5, 19, 31, 12, 900),
  });
});

test.each((fixture("other-events") as { event_type: string }[]).map((event) => [event.event_type, event] as const))(
  "ignores %s",
  (_, event) => {
    expect(parsed(event as Json)).toEqual({});
  },
);

describe("our own message", () => {
  const newer = (data: Json) => ({
    event_type: "message.received",
    data: {
      id: "m",
      chat: { id: "c" },
      direction: "inbound",
      sender_handle: { handle: "+12025550123", is_me: false },
      parts: [{ type: "text", value: "echo" }],
      ...(data as object),
    },
  });

  test.each<[string, Json]>([
    ["is_from_me", { is_from_me: true }],
    ["is_me", { sender_handle: { handle: "+12025550123", is_me: true } }],
    ["direction", { direction: "outbound" }],
    ["the older flag in the newer version", { is_from_me: true, direction: "inbound" }],
    ["the newer flag in the older version", { chat_id: "c", from: "+1", is_from_me: false, direction: "outbound" }],
  ])("marked by %s is dropped", (_, data) => {
    expect(only(newer({}))).toBeDefined();
    expect(parsed(newer(data))).toEqual({});
  });
});

describe("the sender", () => {
  const from = (handle: string) => ({
    event_type: "message.received",
    data: { chat_id: "c", from: handle, message: { id: "m", parts: [{ type: "text", value: "x" }] } },
  });

  test.each([
    ["+1 (202) 555-0123", "+12025550123"],
    ["12025550123", "+12025550123"],
    ["Ann@Example.COM", "ann@example.com"],
    ["AMAZON", "AMAZON"],
  ])("%s is normalised to %s", (handle, sender) => {
    expect(only(from(handle))?.sender).toBe(sender);
  });

  test.each<[string, string[], boolean]>([
    ["+12025550123", ["+12025550123"], true],
    ["+12025550123", ["1 202 555 0123"], true],
    ["+120255501234", ["+12025550123"], false],
    ["ann@example.com", ["Ann@example.com"], true],
    ["eve@example.com", ["@example.com", "example.com", "+1"], false],
    ["ann@example.com", [], false],
    ["AMAZON", ["+1", "AMAZON"], false],
    ["AMAZON", ["*"], true],
  ])("%s with the list %j: %s", (handle, allowed, passes) => {
    expect(only(from(handle), allowed) !== undefined).toBe(passes);
  });

  test("who is not allowed is logged once, without the text", () => {
    const { ingress, context } = open({ allowed_senders: [] });
    const body = Buffer.from(JSON.stringify(from("+12025550188")));
    for (let i = 0; i < 3; i += 1) {
      expect(ingress.parse(requestOf({ method: "POST", query: "", headers: {}, body }))).toEqual({});
    }
    expect(context.log.lines).toHaveLength(1);
    expect(context.log.lines[0]?.fields).toEqual({ channel: "provider_b", sender: "+12025550188" });
  });
});

test("uses the event's id as the message id if the message has none", () => {
  const payload = { event_type: "message.received", event_id: "evt-1", data: { chat_id: "c", from: "+12025550123" } };
  const message = { parts: [{ type: "text", value: "x" }] };
  expect(only({ ...payload, data: { ...payload.data, message } })?.id).toBe("evt-1");
});

describe("a message without a chat id", () => {
  const without = (data: Json) => ({
    event_type: "message.received",
    data: {
      id: "m",
      sender_handle: { handle: "+1 202 555 0123" },
      parts: [{ type: "text", value: "x" }],
      ...(data as object),
    },
  });

  test.each<[string, Json]>([
    ["no chat", {}],
    ["a chat without an id", { chat: { is_group: false } }],
    ["an empty id", { chat: { id: " " } }],
    ["the older version", { from: "+12025550123", message: { id: "m", parts: [{ type: "text", value: "x" }] } }],
  ])("is answered at its sender's number: %s", (_, data) => {
    expect(only(without(data))).toMatchObject({
      conversation: { channel: "provider_b", id: "+12025550123" },
      sender: "+12025550123",
    });
  });

  test.each<[string, Json]>([
    ["from a group, whose other members would not see the answer", { chat: { is_group: true } }],
    ["from a sender's name, which is not a number", { sender_handle: { handle: "AMAZON" } }],
    ["our own", { direction: "outbound" }],
  ])("is dropped when it is %s", (_, data) => {
    expect(parsed(without(data))).toEqual({});
  });

  test("gets no typing indicator and no read receipt", async () => {
    const asked: string[] = [];
    const { channel } = open({}, (url) => {
      asked.push(String(url));
      return Promise.reject(new Error("no platform"));
    });
    const conversation = { channel: "provider_b", id: "+12025550123" };
    await channel.typing.start(conversation, "m", new AbortController().signal);
    await channel.readMarks.mark(conversation, "m", new AbortController().signal);
    expect(asked).toEqual([]);
  });
});

test.each<[string, Json, string]>([
  [
    "the message's own",
    { sent_at: "2026-02-03T12:00:01Z", created_at: "2026-02-03T12:00:02Z" },
    "2026-02-03T12:00:01Z",
  ],
  ["created_at beside the message", { created_at: "2026-02-03T12:00:02Z" }, "2026-02-03T12:00:02Z"],
  ["created_at of the event", {}, "2026-02-03T12:00:03Z"],
  ["the next valid one", { sent_at: "yesterday", received_at: "" }, "2026-02-03T12:00:03Z"],
])("the time of a message is %s", (_, data, time) => {
  const event = { event_type: "message.received", created_at: "2026-02-03T12:00:03Z" };
  const message = { id: "m", chat: { id: "c" }, sender_handle: { handle: "+12025550123" } };
  const payload = { ...event, data: { ...message, parts: [{ type: "text", value: "x" }], ...(data as object) } };
  expect(only(payload)?.sentAtMs).toBe(Date.parse(time));
});

test("reads the deliveries of the testkit's platform, in both versions", () => {
  const message = { id: "m-1", chatId: "c-1", from: "+12025550123", text: "Hello", atMs: NOW_MS };
  const { ingress } = open();
  for (const version of ["2025-01-01", "2026-02-03"] as const) {
    const request = requestOf(providerBDelivery({ ...message, version }, SECRET));
    expect(ingress.verify(request)).toEqual({ ok: true });
    expect(ingress.parse(request)).toMatchObject({
      inbound: [{ id: "m-1", text: "Hello", sentAtMs: NOW_MS, conversation: { id: "c-1" } }],
    });
  }
});

test.each(["", "{", "[1,", '{"a":1}x', "\ufeff{}", "ÿ", "[".repeat(500) + "]".repeat(500)])(
  "rejects %j with BAD_JSON",
  (body) => {
    const bytes = body === "ÿ" ? Uint8Array.of(0xff) : Buffer.from(body);
    const request = requestOf({ method: "POST", query: "", headers: {}, body: bytes });
    expect(() => open().ingress.parse(request)).toThrow(expect.objectContaining({ code: "BAD_JSON" }));
  },
);

test("arbitrary JSON never throws, and never passes a sender who is not allowed", () => {
  const { ingress } = open({ allowed_senders: ["+12025550123"] });
  const text = fc.oneof(fc.string(), fc.constantFrom("+12025550123", "inbound", "outbound", "text", "media"));
  const anything = fc.oneof(fc.jsonValue() as fc.Arbitrary<Json>, text, fc.boolean(), fc.constant(null));
  const handle = fc.oneof(anything, fc.record({ handle: anything, is_me: anything }));
  const parts = fc.oneof(
    anything,
    fc.array(fc.record({ type: text, value: anything, url: anything, mime_type: anything })),
  );
  const message = { id: anything, parts, sent_at: anything };
  const data = fc.record(
    {
      ...message,
      message: fc.oneof(anything, fc.record(message, { requiredKeys: [] })),
      chat_id: anything,
      chat: fc.oneof(anything, fc.record({ id: anything, is_group: anything })),
      from: anything,
      sender_handle: handle,
      from_handle: handle,
      direction: anything,
      is_from_me: anything,
      received_at: anything,
    },
    { requiredKeys: [] },
  );
  const event = fc.record({ event_type: fc.constant("message.received"), event_id: anything, data });
  fc.assert(
    fc.property(fc.oneof(event, anything), (payload) => {
      const body = Buffer.from(JSON.stringify(payload));
      const { inbound = [] } = ingress.parse(requestOf({ method: "POST", query: "", headers: {}, body })) as Parsed;
      for (const one of inbound) {
        expect(one.sender).toBe("+12025550123");
        expect(one.conversation.id).not.toBe("");
        expect(one.text.trim()).not.toBe("");
        expect(one.sentAtMs).not.toBeNaN();
      }
    }),
    { numRuns: cases(500) },
  );
});

test("the sample delivery for `svc webhook send` is signed, and from an allowed sender", () => {
  const { ingress } = open({ allowed_senders: ["*", "+12025550177"] });
  for (const from of [undefined, "+12025550123"]) {
    const request = requestOf(ingress.sample!({ text: "hello", id: "id-1", atMs: NOW_MS, ...(from && { from }) }));
    expect(ingress.verify(request)).toEqual({ ok: true });
    const [inbound] = (ingress.parse(request) as Parsed).inbound ?? [];
    expect(inbound).toMatchObject({ id: "id-1", text: "hello", sender: from ?? "+12025550177", sentAtMs: NOW_MS });
    expect(inbound?.conversation.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

test("samples of one sender share a conversation, and are unsigned without a secret", () => {
  const chat = (from: string, id: string) => {
    const { ingress } = open({ signing_secret: undefined, allowed_senders: ["*"] });
    const request = requestOf(ingress.sample!({ text: "x", from, id, atMs: NOW_MS }));
    expect(request.headers).not.toHaveProperty("x-webhook-signature");
    return (ingress.parse(request) as Parsed).inbound?.[0]?.conversation.id;
  };
  expect(chat("+12025550123", "1")).toBe(chat("+12025550123", "2"));
  expect(chat("+12025550123", "1")).not.toBe(chat("+12025550124", "1"));
});
