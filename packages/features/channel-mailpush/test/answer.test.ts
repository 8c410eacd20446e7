// Answers as mail: in the thread, once, readable by every mail program, and no one's way to write headers of their own.
import { cases } from "@svc/cases";
import type { OutgoingMessage } from "@svc/contract";
import { compose } from "@svc/kit/mail";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { headersOf } from "../src/mail.ts";
import { keptReply, replyToOf } from "../src/reply.ts";
import { closePlatforms, connected, never, NEWEST, OWN } from "./open-channel.ts";

afterEach(closePlatforms);

async function asked(mail: object = {}) {
  const opened = await connected();
  const headers = { "Message-ID": "<m1@example.org>", References: "<root@example.org> <m0@example.org>" };
  const { mail: theirs } = opened.platform.arrive({
    from: "Ada <ada@example.org>",
    subject: "Grüße",
    text: "Hi",
    headers,
    ...mail,
  });
  await opened.channel.onNotice(NEWEST, never);
  const [inbound] = opened.context.received;
  const answer: OutgoingMessage = {
    conversation: inbound!.conversation,
    text: "Hello Ada,\n\nà bientôt 👋\n.\nFrom here on",
    deliveryId: "delivery-1",
    ...(inbound!.replyData !== undefined && { replyData: inbound!.replyData }),
  };
  return { ...opened, theirs, answer };
}

test("an answer lands in the thread, here and in every mail program", async () => {
  const { platform, channel, theirs, answer } = await asked();
  const { platformId } = await channel.send(answer, never);
  expect(platform.sent).toMatchObject([
    {
      messageId: platformId,
      threadId: theirs.threadId,
      from: OWN,
      to: ["ada@example.org"],
      subject: "Re: Grüße",
      text: answer.text,
      inReplyTo: "<m1@example.org>",
      references: ["<root@example.org>", "<m0@example.org>", "<m1@example.org>"],
    },
  ]);
  const { headers } = platform.sent[0]!;
  expect(headers.get("auto-submitted")).toBe("auto-replied");
  expect(headers.get("content-type")).toMatch(/^text\/plain; charset=utf-8/);
});

test("what was sent and not told is not sent again, in this process or another", async () => {
  const { platform, channel, answer } = await asked();
  platform.mood = ({ path }) => (path.endsWith("/send") ? "loses answers" : "takes");
  await expect(channel.send(answer, never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  platform.mood = "takes";
  const { platformId } = await channel.send(answer, never);
  expect(platform.sent).toHaveLength(1);
  expect(platformId).toBe(platform.sent[0]?.messageId);
  await channel.send({ ...answer, deliveryId: "delivery-2" }, never);
  expect(platform.sent).toHaveLength(2);
});

test("the same of a mail that begins a thread, and its receipt is the same", async () => {
  const { platform, channel } = await connected();
  const question = { conversation: { channel: "mailpush", id: "ada@example.org" }, text: "Deploy?", deliveryId: "d" };
  platform.mood = ({ path }) => (path.endsWith("/send") ? "loses answers" : "takes");
  await expect(channel.send(question, never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  platform.mood = "takes";
  const receipt = await channel.send(question, never);
  const [sent, ...others] = platform.sent;
  expect(others).toEqual([]);
  expect(receipt).toEqual({
    platformId: sent!.messageId,
    opened: { ...question.conversation, thread: sent!.threadId },
  });
  await channel.send({ ...question, deliveryId: "e" }, never);
  expect(platform.sent).toHaveLength(2);
});

test("our own answers are in the thread, and not in the way of the next one", async () => {
  const { platform, channel, context, answer } = await asked();
  await channel.send(answer, never);
  await channel.onNotice(NEWEST, never);
  expect(context.received).toHaveLength(1);
  const { replyData: _, ...unsolicited } = { ...answer, deliveryId: "delivery-2", text: "And one more" };
  await channel.send(unsolicited, never);
  expect(platform.sent[1]).toMatchObject({
    inReplyTo: "<m1@example.org>",
    subject: "Re: Grüße",
    threadId: platform.sent[0]?.threadId,
  });
});

test("a thread that is gone, or none at all, begins a new one", async () => {
  const { platform, channel, answer } = await asked();
  const gone = { ...answer.conversation, thread: "0000" };
  await channel.send({ ...answer, conversation: gone }, never);
  expect(platform.sent[0]).toMatchObject({ inReplyTo: "<m1@example.org>", subject: "Re: Grüße" });
  const conversation = { channel: "mailpush", id: "bob@example.net" };
  await channel.send({ conversation, text: `\n  ${"A long first line ".repeat(9)}\nmore`, deliveryId: "d" }, never);
  expect(platform.sent[1]?.to).toEqual(["bob@example.net"]);
  expect(platform.sent[1]?.subject).toMatch(/^A long first line .{40,60}…$/);
  expect(platform.sent[1]?.headers.get("auto-submitted")).toBe("auto-generated");
  expect(platform.sent[1]?.inReplyTo).toBeUndefined();
});

test("whoever answers a mail that began a thread is where its receipt said", async () => {
  const { platform, channel, context } = await connected();
  const conversation = { channel: "mailpush", id: "Ada@Example.org" };
  const { opened } = await channel.send({ conversation, text: "Deploy?", deliveryId: "d" }, never);
  const [question] = platform.sent;
  expect(opened).toEqual({ channel: "mailpush", id: "ada@example.org", thread: question!.threadId });
  const headers = { "In-Reply-To": question!.headers.get("message-id")! };
  platform.arrive({
    from: "Ada <ADA@example.org>",
    subject: "Re: Deploy?",
    text: "yes but slowly\n\nOn Tue, 3 Feb 2026 at 12:00, Agent <agent@example.com> wrote:\n> Deploy?",
    threadId: question!.threadId,
    headers,
  });
  await channel.onNotice(NEWEST, never);
  expect(context.received).toMatchObject([{ conversation: opened, text: "yes but slowly" }]);
});

test("an answer in a thread opens none; one whose thread is gone tells the new one", async () => {
  const { platform, channel, answer } = await asked();
  expect(await channel.send(answer, never)).not.toHaveProperty("opened");
  const gone = { ...answer.conversation, thread: "0000" };
  const { opened } = await channel.send({ ...answer, conversation: gone, deliveryId: "d" }, never);
  expect(opened).toEqual({ ...answer.conversation, thread: platform.sent[1]?.threadId });
});

test("a subject is answered with one Re:, and a mail without one too", async () => {
  const subjectOf = async (subject: string) => {
    const { platform, channel, answer } = await asked({ subject });
    await channel.send(answer, never);
    return platform.sent[0]?.subject;
  };
  expect(await subjectOf("RE: It")).toBe("RE: It");
  expect(await subjectOf("")).toBe("Re:");
});

test.each([
  "",
  "ada",
  "ada@example.org, bob@example.net",
  "ada@example.org\r\nBcc: bob@example.net",
  "<ada@example.org>",
  "a b@example.org",
])("%j is nobody to write to", async (id) => {
  const { platform, channel } = await connected();
  const before = platform.requests.length;
  const sending = channel.send({ conversation: { channel: "mailpush", id }, text: "x", deliveryId: "d" }, never);
  await expect(sending).rejects.toMatchObject({ code: "DELIVERY_REFUSED" });
  expect(platform.requests).toHaveLength(before);
});

test("headers of a stranger's mail become no headers of ours", async () => {
  const evil = "x\r\nBcc: victim@example.net\r\n\r\ntext";
  const headers = { "Message-ID": `<m1@example.org>${evil}`, References: `<a@b>\r\nBcc: v@w <${evil}> <c@d>` };
  const { platform, channel, answer } = await asked({ subject: evil, headers });
  await channel.send(answer, never);
  expect(platform.sent).toMatchObject([{ to: ["ada@example.org"], inReplyTo: "<m1@example.org>", text: answer.text }]);
  expect(platform.sent[0]?.headers.has("bcc")).toBe(false);
});

test("whatever text, subject and ids there are, the mail is one that RFC 5322 allows, to one person", async () => {
  const { startMailpush } = await import("@svc/testkit/platforms/mailpush/server");
  await using platform = await startMailpush({ address: OWN, topics: [], token: "t", now: () => 0 });
  const wild = fc.string({
    unit: fc.oneof(
      fc.constantFrom("\r", "\n", "\r\n", ":", "<", ">", "Bcc: a@b", "=?", "?=", "."),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(wild, wild, wild, wild, async (text, subject, ids, name) => {
      const fields = { Subject: subject, "Message-ID": `<${ids}@x>`, References: `${ids} <${ids}@y> <a@b>` };
      const theirs = headersOf({ headers: Object.entries(fields).map(([key, value]) => ({ name: key, value })) });
      const answers = replyToOf({ headers: theirs, threadId: "t" });
      const files = [{ name, mimeType: "text/plain", bytes: Buffer.from(text) }];
      const raw = await compose({ from: OWN, to: "ada@example.org", text, answers, key: "k", files });
      const answer = await fetch(`${platform.url}/gmail/v1/users/me/messages/send`, {
        method: "POST",
        headers: { authorization: "Bearer t", "content-type": "application/json" },
        body: JSON.stringify({ raw: raw.toString("base64url") }),
      });
      expect(await answer.json()).toMatchObject({ labelIds: ["SENT"] });
      expect(platform.sent.at(-1)?.to).toEqual(["ada@example.org"]);
      expect(platform.sent.at(-1)?.headers.has("bcc")).toBe(false);
    }),
    { numRuns: cases(60) },
  );
});

test("of a long thread the root and the newest ids are kept", () => {
  const ids = Array.from({ length: 50 }, (_, index) => `<m${index}@example.org>`);
  const fields = [
    { name: "References", value: ids.join(" ") },
    { name: "Message-ID", value: "<last@example.org>" },
  ];
  const { references, messageId } = replyToOf({ headers: headersOf({ headers: fields }), threadId: "t" });
  expect(references).toEqual([ids[0], ...ids.slice(-19)]);
  expect(messageId).toBe("<last@example.org>");
});

test.each([null, [], "x", {}, { messageId: 7 }, { references: [], subject: "x" }])("%j is no reply data", (data) => {
  expect(keptReply(data)).toBeUndefined();
});

test("files go along, as an upload of their own", async () => {
  const { platform, channel, answer } = await asked();
  const bytes = new Uint8Array(300_000).map((_, index) => index % 251);
  const file = {
    kind: "document" as const,
    name: "päper \r\n.pdf",
    mimeType: "application/pdf",
    read: async () => bytes,
  };
  await channel.send({ ...answer, text: "", files: [file] }, never);
  const [sent] = platform.sent;
  expect(sent?.files).toMatchObject([{ mimeType: "application/pdf" }]);
  expect(Buffer.from(sent!.files[0]!.bytes).equals(bytes)).toBe(true);
  expect(sent?.files[0]?.name).toBe("päper .pdf");
  expect(sent).toMatchObject({
    subject: "Re: Grüße",
    inReplyTo: "<m1@example.org>",
    threadId: answer.conversation.thread,
  });
  expect(platform.requests.at(-1)).toMatchObject({ path: "/upload/gmail/v1/users/me/messages/send" });
});

test("the mark of a mail that was read is taken off", async () => {
  const { platform, channel, theirs, answer } = await asked();
  await channel.readMarks.mark(answer.conversation, theirs.id, never);
  expect(platform.mail(theirs.id)?.labelIds).not.toContain("UNREAD");
});

test("a platform that does not say whose the mailbox is gets mail without a sender to fill in", async () => {
  const raw = await compose({
    from: undefined,
    to: "ada@example.org",
    text: "x",
    answers: undefined,
    key: "k",
    files: [],
  });
  expect(raw.toString()).not.toMatch(/^From:/m);
  expect(raw.toString()).toMatch(/^Message-ID: <k@svc\.invalid>/m);
});
