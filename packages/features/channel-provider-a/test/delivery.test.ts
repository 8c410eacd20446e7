// A delivery of the platform must become the messages that people wrote, whatever else is in it.
import type { Inbound } from "@svc/contract";
import { vectorCases } from "@svc/testkit/vectors";
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fixture, harness, NOW_MS, parsed, post } from "./harness.ts";

describe("vectors", () => {
  interface Case {
    readonly config: { readonly allowed: readonly string[] };
    readonly payload: unknown;
  }
  interface Message {
    readonly sender: string;
    readonly content?: string;
    readonly content_length?: number;
    readonly reply_target?: string;
    readonly timestamp?: number | "now";
  }
  test.each(vectorCases<Case, { messages: readonly Message[] }>("payload.provider_a"))(
    "$name",
    ({ input, expected }) => {
      const section = { phone_number_id: "123", allowed_numbers: input.config.allowed };
      const { inbound = [] } = parsed(JSON.stringify(input.payload), section);
      expect(inbound).toHaveLength(expected.messages.length);
      for (const [index, wanted] of expected.messages.entries()) {
        const message = inbound[index] as Inbound;
        expect(message.sender).toBe(wanted.sender);
        expect(message.conversation).toEqual({ channel: "provider_a", id: wanted.reply_target ?? wanted.sender });
        expect(message.text).toBe(wanted.content ?? "A".repeat(wanted.content_length ?? 0));
        const atMs = wanted.timestamp === "now" ? NOW_MS : (wanted.timestamp ?? 1_699_999_999) * 1000;
        expect(message.sentAtMs).toBe(atMs);
      }
    },
  );
});

const ID = "wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=";
const QUOTED = "wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI3QjY5RDg4MzI3QkE0MjlFRjQA";
const SHEENA = {
  id: ID,
  conversation: { channel: "provider_a", id: "+16505551234" },
  sender: "+16505551234",
  senderName: "Sheena Nelson",
  sentAtMs: 1_749_416_383_000,
};
const ABOUT = { replyData: { messageId: ID, contextId: QUOTED } };
const REPLY = { ...ABOUT, repliesTo: QUOTED };
const FILE = "2754859441498128";
const picture = (kind: string, mimeType: string, caption?: string) => ({
  text: caption === undefined ? `[${kind}]` : `[${kind}]\n${caption}`,
  media: [{ kind, ref: FILE, placeholder: `[${kind}]`, mimeType }],
});
const PLACE =
  "Location: 40.782910059774, -73.959075808525\nSolomon R. Guggenheim Museum\n1071 5th Ave, New York, NY 10128";

test.each<[string, object]>([
  ["text", { text: "Does it come in another color?" }],
  ["text-reply", { text: "This one, please", ...REPLY }],
  ["text-forwarded", { text: "Look at this", secondHand: true }],
  ["text-product", { text: "Is it in stock?", ...REPLY }],
  ["image", picture("image", "image/jpeg", "Taj Mahal")],
  ["audio", picture("audio", "audio/ogg")],
  ["video", picture("video", "video/mp4", "Watch this")],
  [
    "document",
    {
      text: "[document]\nMy order",
      media: [
        {
          kind: "document",
          ref: FILE,
          placeholder: "[document]",
          mimeType: "application/pdf",
          fileName: "order_abc.pdf",
        },
      ],
    },
  ],
  ["sticker", picture("sticker", "image/webp")],
  ["location", { text: `${PLACE}\nhttps://www.guggenheim.org/` }],
  ["interactive-button", { text: "Cancel", secondHand: true, ...REPLY }],
  ["interactive-prompt", { text: "Reject", choice: { prompt: "ap-12", approved: false }, ...REPLY }],
  ["interactive-list", { text: "Priority Mail Express", secondHand: true, ...REPLY }],
  ["interactive-form", { text: '{"flow_token":"unused","size":"large"}', secondHand: true, ...REPLY }],
  ["button", { text: "Unsubscribe", secondHand: true, ...REPLY }],
  ["reaction", { kind: "reaction", text: "👍", ...ABOUT }],
  ["reaction-removed", { kind: "reaction", text: "", ...ABOUT }],
  [
    "group",
    {
      text: "What do you all think about this?",
      group: true,
      conversation: {
        channel: "provider_a",
        id: "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD",
      },
    },
  ],
  [
    "user-id",
    {
      text: "Nobody sees my number",
      sender: "US.13491208655302741918",
      conversation: { channel: "provider_a", id: "US.13491208655302741918" },
    },
  ],
])("%s is one message", (name, expected) => {
  expect(parsed(fixture(name))).toEqual({ inbound: [{ ...SHEENA, ...expected }], updates: [] });
});

const SENT_ID = "wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI5OTZGN0ZFQzA4QUE2QTFEMUIA";

test.each<[string, object]>([
  ["status-sent", { status: "sent" }],
  ["status-delivered", { status: "delivered" }],
  ["status-read", { status: "read" }],
  ["status-played", { status: "read" }],
  [
    "status-failed",
    {
      status: "failed",
      reason:
        "More than 24 hours have passed since this person last wrote, and only templates may be sent then (error 131047).",
    },
  ],
])("%s tells what became of an answer, in words of ours", (name, expected) => {
  expect(parsed(fixture(name))).toEqual({ inbound: [], updates: [{ platformId: SENT_ID, ...expected }] });
});

test.each(["contacts", "order", "system", "unsupported", "errors", "echo", "account-update", "another-number"])(
  "%s holds nothing for us",
  (name) => {
    expect(parsed(fixture(name))).toEqual({ inbound: [], updates: [] });
  },
);

test("no fixture is left out of these tests", () => {
  const known = 19 + 5 + 8;
  expect(readdirSync(`${import.meta.dirname}/fixtures`)).toHaveLength(known);
});

test("who hides the number is let in by the user id, and by nothing that looks like it", () => {
  const withList = (...allowed: string[]) => parsed(fixture("user-id"), { allowed_numbers: allowed }).inbound?.length;
  expect(withList("US.13491208655302741918")).toBe(1);
  expect(withList("13491208655302741918", "+13491208655302741918", "us.13491208655302741918")).toBe(0);
  expect(withList()).toBe(0);
});

test("one who may not write is told in the log once, and nobody's words are", () => {
  const { ingress, context } = harness({ allowed_numbers: ["+49"] });
  for (let time = 0; time < 3; time += 1) expect(ingress.parse(post(fixture("text"))).inbound).toEqual([]);
  expect(context.log.text().match(/not on the allowlist/g)).toHaveLength(1);
  expect(context.log.text()).not.toContain("another color");
});

test("a message to another number of the app is told in the log once", () => {
  const { ingress, context } = harness();
  for (const name of ["status-sent", "another-number", "another-number"]) ingress.parse(post(fixture(name)));
  expect(context.log.text().match(/another number than phone_number_id/g)).toHaveLength(1);
});

test("several messages in several entries stay in their order", () => {
  const [one, two] = ["text", "image"].map((name) => JSON.parse(fixture(name)) as { entry: object[] });
  const { inbound } = parsed(JSON.stringify({ entry: [...one!.entry, ...two!.entry, ...one!.entry] }));
  expect(inbound?.map(({ text }) => text.slice(0, 7))).toEqual(["Does it", "[image]", "Does it"]);
});
