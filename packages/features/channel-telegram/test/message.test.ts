// A message of the platform must become what someone said: whole, with its files, and in the conversation it belongs to.
import { describe, expect, test } from "vitest";
import { ADA, NOW_MS, only, posted, said } from "./fixture.ts";

const fixture = await posted();
const read = (text: string | undefined, more: Parameters<typeof said>[1] = {}) =>
  only(fixture.parsed(said(text, more)));

test("a text", () => {
  const { message } = said("Hello\n world ");
  expect(only(fixture.parsed({ message }))).toEqual({
    id: `123456789:${ADA}:${message.message_id}`,
    conversation: { channel: "telegram", id: ADA },
    sender: ADA,
    senderName: "Ada Lovelace",
    text: "Hello\n world ",
    sentAtMs: NOW_MS,
  });
});

const file = (more: object = {}) => ({ file_id: "AgAC-1", file_unique_id: "u", file_size: 1000, ...more });

describe("files", () => {
  test.each<[string, Record<string, unknown>, object]>([
    [
      "photo",
      {
        photo: [
          file({ width: 90, height: 90, file_id: "small" }),
          file({ width: 800, height: 600 }),
          file({ width: 320, height: 240, file_id: "mid" }),
        ],
      },
      { kind: "image", placeholder: "[image]", mimeType: "image/jpeg" },
    ],
    [
      "voice",
      { voice: file({ duration: 3, mime_type: "audio/ogg" }) },
      { kind: "audio", placeholder: "[voice message]", mimeType: "audio/ogg" },
    ],
    [
      "audio",
      { audio: file({ duration: 3, mime_type: "audio/mpeg", file_name: "song.mp3" }) },
      { kind: "audio", placeholder: "[audio]", mimeType: "audio/mpeg", fileName: "song.mp3" },
    ],
    [
      "video note",
      { video_note: file({ length: 240 }) },
      { kind: "video", placeholder: "[video message]", mimeType: "video/mp4" },
    ],
    [
      "video",
      { video: file({ mime_type: "video/quicktime" }) },
      { kind: "video", placeholder: "[video]", mimeType: "video/quicktime" },
    ],
    [
      // It has a document, too.
      "animation",
      { animation: file({ mime_type: "video/mp4" }), document: file() },
      { kind: "video", placeholder: "[animation]", mimeType: "video/mp4" },
    ],
    [
      "document",
      { document: file({ mime_type: "application/pdf; x=y", file_name: "a.pdf" }) },
      { kind: "document", placeholder: "[document]", mimeType: "application/pdf", fileName: "a.pdf" },
    ],
    [
      "sticker",
      { sticker: file({ emoji: "👍", is_animated: false, is_video: false }) },
      { kind: "sticker", placeholder: "[sticker]", mimeType: "image/webp" },
    ],
    [
      "moving sticker",
      { sticker: file({ is_video: true }) },
      { kind: "sticker", placeholder: "[sticker]", mimeType: "video/webm" },
    ],
  ])("%s", (_what, content, media) => {
    const one = read(undefined, { more: content as never });
    expect(one.media).toEqual([{ ref: "AgAC-1", ...media }]);
    const says = (content["sticker"] as { emoji?: string } | undefined)?.emoji;
    expect(one.text).toBe([one.media?.[0]?.placeholder, ...(says ? [says] : [])].join(" "));
  });

  test("with a caption", () => {
    const more = {
      photo: [file()],
      caption: "see here",
      caption_entities: [{ type: "text_link", offset: 4, length: 4, url: "https://a.example" }],
    };
    expect(read(undefined, { more: more as never }).text).toBe("[image]\nsee [here](https://a.example)");
  });
});

describe("what is neither a text nor a file", () => {
  const location = { latitude: 52.5, longitude: 13.4 };
  test.each<[string, Record<string, unknown>, string | undefined]>([
    ["a place", { location }, "Location: 52.5, 13.4"],
    [
      "a venue",
      { location, venue: { location, title: "Café", address: "Street 1" } },
      "Location: 52.5, 13.4\nCafé\nStreet 1",
    ],
    ["a contact", { contact: { phone_number: "+15551", first_name: "Bo", last_name: "D" } }, "Contact: Bo D, +15551"],
    [
      "a poll",
      { poll: { question: "When?", options: [{ text: "now" }, { text: "later" }] } },
      "Poll: When?\n- now\n- later",
    ],
    ["dice", { dice: { emoji: "🎲", value: 4 } }, "[🎲: 4]"],
    ["a checklist", { checklist: { title: "Buy", tasks: [{ id: 1, text: "milk" }] } }, "Checklist: Buy\n- milk"],
    [
      "a rich message",
      {
        rich_message: {
          blocks: [
            { type: "section_heading", size: 1, text: "Title" },
            { type: "paragraph", text: ["a ", { type: "bold", text: ["b", { type: "italic", text: "c" }] }, "."] },
            { type: "list", items: [{ label: "-", blocks: [{ type: "paragraph", text: "item" }] }] },
            { type: "table", cells: [[{ text: "1" }, { text: { type: "code", text: "2" } }]] },
            { type: "divider" },
          ],
        },
      },
      "Title\na bc.\nitem\n1 | 2",
    ],
    ["a story", { story: { id: 1 } }, "[story]"],
    ["who came", { new_chat_members: [{ id: 1, is_bot: false, first_name: "x" }] }, undefined],
    ["who left", { left_chat_member: { id: 1 } }, undefined],
    ["a pin", { pinned_message: { message_id: 1, text: "x" } }, undefined],
    ["a topic's beginning", { forum_topic_created: { name: "x" } }, undefined],
    ["a move", { migrate_to_chat_id: -100_1 }, undefined],
    ["nothing", {}, undefined],
    ["blank", { text: " \n" }, undefined],
  ])("%s", (_what, content, text) => {
    const { inbound = [] } = fixture.parsed(said(undefined, { more: content as never }));
    expect(inbound.map((one) => one.text)).toEqual(text === undefined ? [] : [text]);
  });
});

describe("formatting", () => {
  test.each<[string, string, readonly Record<string, unknown>[], string]>([
    [
      "a hidden link",
      "see here now",
      [{ type: "text_link", offset: 4, length: 4, url: "https://a.example" }],
      "see [here](https://a.example) now",
    ],
    ["code", "so:\nx < 1", [{ type: "pre", offset: 4, length: 5, language: "js" }], "so:\n```js\nx < 1\n```"],
    ["bold", "a b", [{ type: "bold", offset: 0, length: 1 }], "a b"],
    [
      "two that overlap",
      "abc",
      [
        { type: "text_link", offset: 0, length: 2, url: "u" },
        { type: "text_link", offset: 1, length: 2, url: "v" },
      ],
      "[ab](u)c",
    ],
    ["behind a pair", "😀 x", [{ type: "text_link", offset: 3, length: 1, url: "u" }], "😀 [x](u)"],
    ["outside of the text", "ab", [{ type: "text_link", offset: 1, length: 9, url: "u" }], "ab"],
  ])("%s", (_what, text, entities, expected) => {
    expect(read(text, { more: { entities } as never }).text).toBe(expected);
  });
});

describe("words of others", () => {
  const bo = { id: 5, is_bot: false, first_name: "Bo" };
  const us = { id: 123_456_789, is_bot: true, first_name: "Helper", username: "svc_bot" };
  const reply = (replied: object) => ({ reply_to_message: { message_id: 3, chat: { id: 1 }, date: 1, ...replied } });
  test.each<[string, Record<string, unknown>, string]>([
    ["a reply", reply({ from: bo, text: "Lunch\nat  12?" }), 'Yes\n\n[In reply to Bo: "Lunch at 12?"]'],
    ["to a picture", reply({ from: bo, photo: [file()], caption: "cat" }), 'Yes\n\n[In reply to Bo: "[image] cat"]'],
    ["to us", reply({ from: us, text: "An answer" }), 'Yes\n\n[In reply to your message: "An answer"]'],
    ["to a question of ours", reply({ from: us, text: "Deploy?", reply_markup: { inline_keyboard: [] } }), "Yes"],
    [
      "to a part",
      { ...reply({ from: bo, text: "a b c" }), quote: { text: "b", position: 2 } },
      'Yes\n\n[In reply to Bo: "b"]',
    ],
    [
      "to another chat",
      { external_reply: { origin: {}, photo: [file()] } },
      'Yes\n\n[In reply to a message: "[image]"]',
    ],
    ["to much", reply({ from: bo, text: "x".repeat(1000) }), `Yes\n\n[In reply to Bo: "${"x".repeat(300)}…"]`],
    [
      "a forwarded message",
      { forward_origin: { type: "user", sender_user: bo, date: 1 } },
      "[Forwarded from Bo]\n\nYes",
    ],
    [
      "of somebody hidden",
      { forward_origin: { type: "hidden_user", sender_user_name: "Cy", date: 1 } },
      "[Forwarded from Cy]\n\nYes",
    ],
    [
      "of a channel",
      { forward_origin: { type: "channel", chat: { title: "News" }, date: 1 } },
      "[Forwarded from News]\n\nYes",
    ],
    // An approver's name is on it, and the words are another program's: no keyword may stand in front.
    ["chosen by an inline bot", { via_bot: { id: 9, is_bot: true, username: "gif" } }, "[Sent by way of @gif]\n\nYes"],
    ["chosen by an inline bot without a name", { via_bot: {} }, "[Sent by way of a bot]\n\nYes"],
  ])("%s", (_what, more, expected) => {
    expect(read("Yes", { more: more as never }).text).toBe(expected);
  });

  test.each<[string, Record<string, unknown>, string | undefined]>([
    ["a reply names the message", reply({ from: bo, text: "Lunch?" }), "3"],
    ["one to another chat or a story names none of this chat", { external_reply: { origin: {} } }, "elsewhere"],
    ["a message that replies to nothing names none", {}, undefined],
  ])("%s", (_what, more, expected) => {
    expect(read("Yes", { more: more as never }).repliesTo).toBe(expected);
  });

  test("a command stays one", () => {
    expect(read("/new", { more: reply({ from: bo, text: "x" }) as never }).text).toBe("/new");
  });
});

describe("commands", () => {
  test.each([
    ["/new", "/new"],
    ["/New@svc_bot", "/new"],
    ["/model@SVC_bot gpt-5", "/model gpt-5"],
    ["/start", "/help"],
    ["/start abc", "/help"],
    ["/Unknown x", "/Unknown x"],
    ["/stop now", "/stop now"],
    ["a /new", "a /new"],
    ["/path/to/file", "/path/to/file"],
  ])("%s", (text, expected) => {
    expect(read(text).text).toBe(expected);
  });
});

describe("no message", () => {
  test.each<[string, Record<string, unknown>]>([
    ["an edited one", { edited_message: said("x").message }],
    ["a post of a channel", { channel_post: said("x").message }],
    ["one in a channel", { message: { ...said("x").message, chat: { id: -5, type: "channel" } } }],
    ["one of a bot", said("x", { user: { is_bot: true } })],
    ["one in the name of a group", said("x", { more: { sender_chat: { id: -5, type: "supergroup" } } })],
    ["one that only one person sees", said("x", { more: { message_id: 0 } })],
    ["of nobody", { message: { ...said("x").message, from: undefined as never } }],
    [
      "in the chat of a channel with one person",
      said("/help", { chat: { id: -5, type: "supergroup", is_direct_messages: true } }),
    ],
  ])("%s", (_what, update) => {
    expect(fixture.parsed(update).inbound).toEqual([]);
  });
});

test("a message that says no time was written when it came", () => {
  expect(read("x", { more: { date: -1 } }).sentAtMs).toBe(NOW_MS);
});
