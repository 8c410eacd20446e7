// One value that is not what the platform's documents say, wherever it is, must be no error, which would stop all that comes after
// it, and no message that can't be kept or answered.
import type { Json } from "@svc/contract";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ADA, FORUM, GROUP, posted, said } from "./fixture.ts";

const { parsed } = await posted({ allowed_users: ["*"] });
const flawIn = (update: unknown): string | undefined => flawOf(parsed(update as never), "telegram");

const photo = [
  { file_id: "f", width: 1, height: 2 },
  { file_id: "g", width: 3, height: 4 },
];
const user = { id: Number(ADA), is_bot: false, first_name: "Ada", username: "ada" };

const UPDATES: Readonly<Record<string, object>> = {
  text: said("see @svc_bot", { chat: GROUP, more: { entities: [{ type: "mention", offset: 4, length: 8 }] } as never }),
  topic: said("/model@svc_bot x", { chat: FORUM, more: { is_topic_message: true, message_thread_id: 12 } as never }),
  reply: said("yes", {
    more: {
      reply_to_message: { message_id: 3, from: user, photo, caption: "c", chat: GROUP, date: 1 },
      quote: { text: "c", position: 0 },
      forward_origin: { type: "channel", chat: { id: -1, title: "News" }, message_id: 1, date: 1 },
    } as never,
  }),
  album: said(undefined, {
    more: {
      photo,
      media_group_id: "a",
      caption: "x",
      caption_entities: [{ type: "pre", offset: 0, length: 1, language: "js" }],
    } as never,
  }),
  sticker: said(undefined, { more: { sticker: { file_id: "f", emoji: "👍", is_video: true } } as never }),
  document: said(undefined, {
    more: { document: { file_id: "f", file_name: "a.pdf", mime_type: "application/pdf", file_size: 1 } } as never,
  }),
  venue: said(undefined, {
    more: { venue: { location: { latitude: 1, longitude: 2 }, title: "t", address: "a" } } as never,
  }),
  contact: said(undefined, { more: { contact: { phone_number: "1", first_name: "a", last_name: "b" } } as never }),
  poll: said(undefined, { more: { poll: { question: "q", options: [{ text: "a" }, { text: "b" }] } } as never }),
  rich: said(undefined, {
    more: {
      rich_message: { blocks: [{ text: ["a", { text: "b" }], caption: { text: "c" }, cells: [[{ text: "d" }]] }] },
    } as never,
  }),
  press: {
    callback_query: {
      id: "4382",
      from: user,
      data: "p:ap-1:y",
      message: {
        message_id: 5,
        chat: GROUP,
        date: 1,
        reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "p:ap-1:y" }]] },
      },
    },
  },
  reaction: {
    message_reaction: {
      chat: GROUP,
      message_id: 5,
      user,
      date: 1,
      old_reaction: [],
      new_reaction: [{ type: "emoji", emoji: "👍" }],
    },
  },
};

describe("one odd value", () => {
  test.each(Object.entries(UPDATES))("in %s", (_name, update) => {
    const whole = { update_id: 7, ...update };
    expect(parsed(whole).inbound).toHaveLength(1);
    expect(new Set(Array.from(everyAlteration(whole as unknown as Json), flawIn))).toEqual(new Set([undefined]));
  });
});

test("anything at all, where a message is expected", () => {
  fc.assert(
    fc.property(fc.constantFrom("message", "callback_query", "message_reaction"), fc.jsonValue(), (kind, value) => {
      expect(flawIn({ [kind]: value })).toBeUndefined();
    }),
    { numRuns: cases(500) },
  );
});

test("a text of half a megabyte, of nothing but marks, is read in no time to speak of", () => {
  const entities = Array.from({ length: 5_000 }, (_, index) => ({
    type: "text_link",
    offset: index * 100,
    length: 100,
    url: "u",
  }));
  const { inbound = [] } = parsed(said("x".repeat(500_000), { more: { entities } as never }));
  expect(inbound[0]?.text).toHaveLength(500_000 + 5_000 * 5);
});
