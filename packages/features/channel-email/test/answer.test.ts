// Answers as mail: in the thread, to whom they should go, readable, and no one's way to write headers of his own.
import type { Inbound, OutgoingMessage } from "@svc/contract";
import type { RawMail } from "@svc/testkit/platforms/email/fake/raw-mail";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { closeAll, connected, eventually, mailFrom, never, open, OWN, PERSON, portsOf, startMail } from "./open.ts";

afterEach(closeAll);

const answerTo = (inbound: Inbound, text = "An answer", deliveryId = "d1"): OutgoingMessage => ({
  conversation: inbound.conversation,
  text,
  deliveryId,
  ...(inbound.replyData !== undefined && { replyData: inbound.replyData }),
});

async function asked(mail: Omit<RawMail, "from"> = {}, changes: Record<string, unknown> = {}) {
  const channel = await connected(changes);
  channel.mail.inbox.add(mailFrom(PERSON, { subject: "Grüße", text: "Hi", messageId: "<m1@example.org>", ...mail }));
  await eventually(() => channel.context.received.length === 1);
  const [inbound] = channel.context.received as [Inbound];
  return { ...channel, inbound };
}

const to = (id: string, thread?: string) => ({ channel: "email", id, ...(thread !== undefined && { thread }) });

test("an answer is in the thread, from us, to one person, marked as automatic, in text and HTML", async () => {
  const headers = {
    References: "<root@example.org> <m0@example.org>",
    "In-Reply-To": "<m0@example.org>",
    Cc: "bob@example.org",
  };
  const { mail, channel, inbound } = await asked({ headers }, { display_name: 'Agent "A" Smith' });
  const text = "Hello Ada,\n\nà bientôt 👋\n.\nFrom **here** on";
  const { platformId, opened } = await channel.send(answerTo(inbound, text), never);
  const [sent] = mail.sent;
  expect(sent).toMatchObject({
    from: OWN,
    to: [PERSON],
    envelope: { from: OWN, to: [PERSON] },
    subject: "Re: Grüße",
    text,
    inReplyTo: "<m1@example.org>",
    references: ["<root@example.org>", "<m0@example.org>", "<m1@example.org>"],
  });
  expect(sent?.html).toContain("From <strong>here</strong> on");
  expect(sent?.headers.get("auto-submitted")).toBe("auto-replied");
  expect(sent?.headers.get("x-auto-response-suppress")).toBe("All");
  expect(sent?.headers.has("precedence")).toBe(false);
  expect(sent?.headers.get("message-id")).toBe(platformId);
  expect(sent?.headers.get("from")).toContain("Smith");
  expect(platformId).toMatch(/^<[0-9a-f]{32}@example\.com>$/);
  expect(opened).toBeUndefined();
});

test("every try to send it has the same Message-ID, another message another one", async () => {
  const { mail, channel, inbound } = await asked();
  mail.mood = ({ line }) => (line === "DATA" ? "loses answers" : "takes");
  await expect(channel.send(answerTo(inbound), never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  mail.mood = "takes";
  await channel.send(answerTo(inbound), never);
  await channel.send(answerTo(inbound, "An answer", "d2"), never);
  const ids = mail.sent.map(({ headers }) => headers.get("message-id"));
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[1]);
});

test("a message of nobody's asking begins a thread with its first line as the subject", async () => {
  const { mail, channel } = await connected();
  const text = `\n  ${"A long first line ".repeat(9)}\nmore`;
  const receipt = await channel.send({ conversation: to("Bob@Example.net"), text, deliveryId: "d" }, never);
  const [sent] = mail.sent;
  expect(sent?.to).toEqual(["bob@example.net"]);
  expect(sent?.subject).toMatch(/^A long first line .{40,60}…$/);
  expect(sent?.headers.get("auto-submitted")).toBe("auto-generated");
  expect(sent?.inReplyTo).toBeUndefined();
  expect(receipt).toEqual({
    platformId: sent?.headers.get("message-id"),
    opened: to("bob@example.net", receipt.platformId),
  });
});

test("a message in a thread that nobody said where to answer is below the newest mail of it", async () => {
  const { mail, channel, inbound } = await asked();
  const headers = { References: "<m1@example.org>", "In-Reply-To": "<m1@example.org>" };
  mail.inbox.add(mailFrom(PERSON, { subject: "Re: Grüße", text: "more", messageId: "<m2@example.org>", headers }));
  await channel.send({ conversation: inbound.conversation, text: "By the way", deliveryId: "d" }, never);
  expect(mail.sent[0]).toMatchObject({
    subject: "Re: Grüße",
    inReplyTo: "<m2@example.org>",
    references: ["<m1@example.org>", "<m2@example.org>"],
  });
  await channel.send({ conversation: to(PERSON, "<gone@example.org>"), text: "Hello\nthere", deliveryId: "e" }, never);
  expect(mail.sent[1]).toMatchObject({ subject: "Re: Hello", inReplyTo: "<gone@example.org>" });
  await channel.send({ conversation: to(PERSON, "1000:7"), text: "Hello", deliveryId: "f" }, never);
  expect(mail.sent[2]).toMatchObject({ subject: "Hello", inReplyTo: undefined });
});

test("where the mailbox can't be asked, the thread alone is enough", async () => {
  const mail = await startMail();
  const { channel } = open(portsOf(mail));
  mail.mood = ({ protocol }) => (protocol === "imap" ? { refuses: 503 } : "takes");
  await channel.send({ conversation: to(PERSON, "<root@example.org>"), text: "Hello", deliveryId: "d" }, never);
  expect(mail.sent[0]).toMatchObject({ subject: "Re: Hello", references: ["<root@example.org>"] });
});

test.each<[string, string[], string]>([
  ["carol@example.net", [PERSON, "@example.net"], "carol@example.net"],
  ["carol@evil.test", [PERSON, "@example.net"], PERSON],
  ["carol@evil.test", ["*"], PERSON],
  ["carol@example.net", ["*", "carol@example.net"], "carol@example.net"],
  [`carol@example.net, ${PERSON}`, ["@example.net", PERSON], PERSON],
  [OWN, [PERSON, "@example.com"], PERSON],
  [PERSON, [PERSON], PERSON],
])("with Reply-To %s and the list %j the answer goes to %s", async (replyTo, allowed_senders, expected) => {
  const { mail, channel, inbound } = await asked({ headers: { "Reply-To": replyTo } }, { allowed_senders });
  const { opened } = await channel.send(answerTo(inbound), never);
  expect(mail.sent[0]?.envelope.to).toEqual([expected]);
  expect(opened).toEqual(expected === PERSON ? undefined : to(expected, "<m1@example.org>"));
});

test("a reply to a mail of ours names that mail; a reply to any other mail names none", async () => {
  const { mail, channel, inbound, context } = await asked();
  const { platformId } = await channel.send(answerTo(inbound), never);
  const add = (id: string, answered: string): unknown =>
    mail.inbox.add(
      mailFrom(PERSON, {
        text: "yes",
        messageId: id,
        headers: { References: `<m1@example.org> ${answered}`, "In-Reply-To": answered },
      }),
    );
  add("<m2@example.org>", platformId!);
  add("<m3@example.org>", "<m1@example.org>");
  await eventually(() => context.received.length === 3);
  expect(context.received.map(({ repliesTo }) => repliesTo)).toEqual([undefined, platformId, undefined]);
});

test("a reply to our answer is in its thread, however little the mail program says of that", async () => {
  const first = await asked({ headers: { References: "<root@example.org>", "In-Reply-To": "<root@example.org>" } });
  const { platformId } = await first.channel.send(answerTo(first.inbound), never);
  first.mail.disconnect();
  await first.running.catch(() => undefined);
  // The next process knows it, too.
  const next = open(portsOf(first.mail), { state: first.context.state });
  next.run();
  first.mail.inbox.add(mailFrom(PERSON, { text: "and then", headers: { "In-Reply-To": platformId! } }));
  await eventually(() => next.context.received.length === 1);
  expect(next.context.received[0]?.conversation).toEqual(first.inbound.conversation);
});

test.each([
  "",
  "ada",
  "ada@example.org, bob@example.net",
  "ada@example.org\r\nBcc: bob@example.net",
  "<ada@example.org>",
  "a b@example.org",
])("%j is nobody to write to", async (id) => {
  const { mail, channel } = await connected();
  const requests = mail.requests.length;
  const sending = channel.send({ conversation: to(id), text: "x", deliveryId: "d" }, never);
  await expect(sending).rejects.toMatchObject({ code: "DELIVERY_REFUSED" });
  expect(mail.requests.slice(requests).filter(({ protocol }) => protocol === "smtp")).toEqual([]);
});

const wild = fc.string({
  maxLength: 60,
  unit: fc.oneof(
    fc.constantFrom(
      "\r",
      "\n",
      "\r\n",
      "\r\n\r\n",
      ":",
      "<",
      ">",
      "Bcc: v@evil.test",
      "=?",
      "?=",
      ".",
      "\0",
      '"',
      "=?utf-8?q?=0D=0ABcc:_v@evil.test?=",
    ),
    fc.string({ unit: "binary", maxLength: 3 }),
  ),
});

test("no text, subject, id or name puts a line break into a header", async () => {
  const mail = await startMail();
  await fc.assert(
    fc.asyncProperty(wild, wild, wild, wild, wild, async (text, subject, id, name, fileName) => {
      // Once as a reply to a mail, once without the stored reply data.
      const replyData = { messageId: id, references: [id, `<${id}@y>`], subject };
      const { channel } = open({ ...portsOf(mail), ...(name.trim() !== "" && { display_name: name }) });
      const file = {
        kind: "document" as const,
        name: fileName,
        mimeType: "text/plain",
        read: async () => Buffer.from("x"),
      };
      const [before, broken] = [mail.sent.length, mail.broken.length];
      const message = { conversation: to(PERSON, id), text, files: [file], deliveryId: `d ${text}` };
      for (const more of [{ replyData }, {}]) {
        await channel.send({ ...message, ...more }, never).catch(() => undefined);
        expect(mail.broken.slice(broken)).toEqual([]);
      }
      for (const sent of mail.sent.slice(before)) {
        expect(sent.envelope).toEqual({ from: OWN, to: [PERSON] });
        expect([sent.from, sent.to]).toEqual([OWN, [PERSON]]);
        expect(sent.headers.has("bcc")).toBe(false);
        expect(sent.headers.has("cc")).toBe(false);
      }
      expect(mail.sent).toHaveLength(before + 2);
    }),
    { numRuns: cases(40) },
  );
});

test("headers of a stranger's mail become no headers of ours", async () => {
  const evil = "x\r\n Bcc: victim@example.net\r\n\tX: y";
  const headers = { References: `<a@b> <${"c".repeat(300)}@d> Bcc: <e@f>`, "In-Reply-To": "<a@b>" };
  const { mail, channel, inbound } = await asked({ subject: evil, messageId: "<m1@example.org> <x@y>", headers });
  await channel.send(answerTo(inbound), never);
  expect(mail.sent).toMatchObject([
    { to: [PERSON], inReplyTo: "<m1@example.org>", references: ["<a@b>", "<e@f>", "<m1@example.org>"] },
  ]);
  expect(mail.sent[0]?.headers.has("bcc")).toBe(false);
});

test.each<[string, object, object]>([
  ["a recipient that is refused", { refuses: 400 }, { code: "DELIVERY_REFUSED" }],
  ["a busy server", { rateLimits: 90 }, { code: "DELIVERY_FAILED", retryAfterMs: 90_000 }],
  ["a server out of order", { refuses: 503 }, { code: "DELIVERY_FAILED" }],
])("%s", async (_, mood, error) => {
  const mail = await startMail();
  const { channel } = open(portsOf(mail));
  mail.mood = ({ line }) => (line.startsWith("RCPT") ? (mood as never) : "takes");
  await expect(channel.send({ conversation: to(PERSON), text: "x", deliveryId: "d" }, never)).rejects.toMatchObject(
    error,
  );
});

test("a mail that is larger than the server takes is refused for good", async () => {
  const mail = await startMail({ maxBytes: 100_000 });
  const { channel } = open(portsOf(mail));
  const file = {
    kind: "document" as const,
    name: "a",
    mimeType: "text/plain",
    read: async () => Buffer.alloc(200_000),
  };
  const sending = channel.send({ conversation: to(PERSON), text: "x", files: [file], deliveryId: "d" }, never);
  await expect(sending).rejects.toMatchObject({ code: "DELIVERY_REFUSED" });
});
