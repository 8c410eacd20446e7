// What a decrypted message becomes, and that nothing hostile in it gets further: a sender chooses every byte of it.
import * as library from "baileys";
import { proto } from "baileys";
import { cases } from "@svc/cases";
import { assert, constantFrom, dictionary, oneof, property, string, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import { type Reader, readMessage } from "../src/inbound.ts";
import { inboundMedia } from "../src/media.ts";

const SELF = { phone: "4915110000001:11@s.whatsapp.net", lid: "90000000000001:11@lid" };
const ADA = "+4915110000002";
const GROUP = "120363000000000001@g.us";

const readerOf = (more: Partial<Reader["section"]> = {}, allowed: readonly string[] = [ADA]): Reader => ({
  library,
  section: { mode: "business", group_policy: "allowlist", mention_only: true, ...more },
  self: SELF,
  phoneOfLid: (lid) => (lid === "90000000000002" ? ADA : undefined),
  isAllowed: (phone) => allowed.includes(phone),
});

const padded = (message: proto.IMessage): Uint8Array => library.encodeWAMessage(message);
const read = (reader: Reader, message: proto.IMessage, attrs: Record<string, string> = {}) =>
  readMessage(reader, {
    name: "message/1",
    attrs: {
      id: "A1",
      from: "90000000000002@lid",
      sender_pn: "4915110000002@s.whatsapp.net",
      t: "1767225600",
      ...attrs,
    },
    plaintext: padded(message),
  });
const inGroup = { from: GROUP, participant: "90000000000002:4@lid", participant_pn: "4915110000002@s.whatsapp.net" };

test("a text is a message of its sender's number, with the message it replies to", () => {
  const contextInfo = { stanzaId: "OUR-1", participant: SELF.lid };
  expect(read(readerOf(), { extendedTextMessage: { text: "Yes", contextInfo } }, { notify: "Ada" })).toEqual({
    id: `${ADA} A1`,
    conversation: { channel: "provider_a", id: ADA },
    sender: ADA,
    senderName: "Ada",
    text: "Yes",
    repliesTo: "OUR-1",
    sentAtMs: 1_767_225_600_000,
    replyData: { id: "A1" },
  });
});

test("a number that the platform does not name beside the id is looked up; one that nobody knows is nobody's", () => {
  const message = { conversation: "Hello" };
  expect(read(readerOf(), message, { sender_pn: "" })?.sender).toBe(ADA);
  expect(read(readerOf({}, ["*", ADA]), message, { sender_pn: "", from: "77@lid" })).toBeUndefined();
});

test("in a group only what names the account, or replies to it, is heard, of those on the list", () => {
  const mention = { extendedTextMessage: { text: "@bot hi", contextInfo: { mentionedJid: ["90000000000001@lid"] } } };
  const heard = read(readerOf(), mention, inGroup);
  expect(heard).toMatchObject({ group: true, sender: ADA, conversation: { id: GROUP }, id: `${GROUP} ${ADA} A1` });
  expect(read(readerOf(), { conversation: "hi" }, inGroup)).toBeUndefined();
  expect(read(readerOf({ mention_only: false }), { conversation: "hi" }, inGroup)?.text).toBe("hi");
  expect(read(readerOf({ group_policy: "ignore" }), mention, inGroup)).toBeUndefined();
  expect(read(readerOf({}, []), mention, inGroup)).toBeUndefined();
});

test("own messages are dropped, but in personal mode the chat with oneself is a conversation, if the number is listed", () => {
  const own = { from: "4915110000001@s.whatsapp.net", recipient: "4915110000001@s.whatsapp.net", sender_pn: "" };
  const note = {
    deviceSentMessage: { destinationJid: "4915110000001@s.whatsapp.net", message: { conversation: "note" } },
  };
  const toAda = {
    deviceSentMessage: { destinationJid: "4915110000002@s.whatsapp.net", message: { conversation: "hi" } },
  };
  const listed = ["+4915110000001", ADA];
  expect(read(readerOf({ mode: "personal" }, listed), note, own)).toMatchObject({
    sender: "+4915110000001",
    text: "note",
  });
  expect(read(readerOf({ mode: "personal" }, [ADA]), note, own)).toBeUndefined();
  expect(
    read(readerOf({ mode: "personal" }, listed), toAda, { ...own, recipient: "4915110000002@s.whatsapp.net" }),
  ).toBeUndefined();
  expect(read(readerOf({ mode: "business" }, listed), note, own)).toBeUndefined();
});

test("a reaction is recorded, a forwarded text is second-hand, a place is words, a status is nothing", () => {
  expect(read(readerOf(), { reactionMessage: { text: "👍", key: { id: "OUR-2" } } })).toMatchObject({
    kind: "reaction",
    text: "👍",
    repliesTo: "OUR-2",
  });
  expect(
    read(readerOf(), { extendedTextMessage: { text: "fwd", contextInfo: { isForwarded: true } } })?.secondHand,
  ).toBe(true);
  expect(read(readerOf(), { locationMessage: { degreesLatitude: 1.5, degreesLongitude: 2, name: "Here" } })?.text).toBe(
    "Location: 1.5, 2\nHere",
  );
  expect(
    read(readerOf(), { conversation: "x" }, { from: "status@broadcast", participant: "4915110000002@s.whatsapp.net" }),
  ).toBeUndefined();
  expect(read(readerOf(), { ephemeralMessage: { message: { conversation: "gone soon" } } })?.text).toBe("gone soon");
});

test("a file that leads elsewhere is no file: only a path on the platform's own host is kept", () => {
  const key = new Uint8Array(32).fill(1);
  const image = (directPath: string) => ({
    imageMessage: { url: "https://evil.example/x", directPath, mediaKey: key, fileEncSha256: key, caption: "look" },
  });
  expect(read(readerOf(), image("/v/t62/abc?x=1"))?.media).toHaveLength(1);
  for (const path of ["https://evil.example/x", "@evil.example/x", "\\evil", "", "/a b", `/${"x".repeat(2000)}`]) {
    expect(read(readerOf(), image(path))).toMatchObject({ text: "look" });
    expect(read(readerOf(), image(path))?.media).toBeUndefined();
  }
});

test("hostile bytes become a message, or an error, and never a message of somebody else", () => {
  const attrs = dictionary(
    constantFrom("id", "from", "participant", "sender_pn", "participant_pn", "recipient", "t", "notify"),
    oneof(string(), constantFrom(GROUP, "1@lid", "4915110000009@s.whatsapp.net", "4915110000001@s.whatsapp.net")),
  );
  assert(
    property(attrs, uint8Array({ maxLength: 400 }), (stanza, plaintext) => {
      let read: ReturnType<typeof readMessage>;
      try {
        read = readMessage(readerOf({ mention_only: false }), { name: "message/1", attrs: stanza, plaintext });
      } catch {
        return;
      }
      expect(read === undefined || read.sender === ADA).toBe(true);
    }),
    { numRuns: cases(20_000) },
  );
});

test("a reference to a file that was altered is refused, and nothing is fetched", async () => {
  const fetched: string[] = [];
  const fetch = inboundMedia({ api_url: "https://graph.facebook.com/v1" } as never, {
    clock: { now: () => 0 } as never,
    fetch: async (url) => {
      fetched.push(url);
      throw new Error("no network");
    },
  });
  const good = {
    kind: "image",
    path: "/v/x",
    key: Buffer.alloc(32).toString("base64"),
    sum: Buffer.alloc(32).toString("base64"),
  };
  const never = new AbortController().signal;
  for (const change of [
    { kind: "__proto__" },
    { path: "//evil.example/x y" },
    { path: "@evil.example" },
    { key: "AA" },
    { sum: 7 },
  ]) {
    const ref = JSON.stringify({ ...good, ...change });
    await expect(fetch({ kind: "image", ref, placeholder: "" }, async () => undefined, never)).rejects.toMatchObject({
      code: "MEDIA_REFUSED",
    });
  }
  expect(fetched).toEqual([]);
  await fetch({ kind: "image", ref: JSON.stringify(good), placeholder: "" }, async () => undefined, never).catch(
    () => undefined,
  );
  expect(fetched).toEqual(["https://mmg.whatsapp.net/v/x"]);
});
