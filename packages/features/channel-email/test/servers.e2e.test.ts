// Against a real Dovecot and a real Postfix: mail in, at once; answers out, in the thread; what is lost on the way, and what is not.
import type { Inbound, OutgoingMessage } from "@svc/contract";
import { type MailServers, missingMailServers } from "@svc/testkit/platforms/email/real/mail-servers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { closeAll, eventually, never, open, type Opened, OWN, PASSWORD, PERSON } from "./open.ts";
import { arrived, demandServers, LOST, mailsOf, sectionOf, startServers, write } from "./real.ts";

let servers: MailServers;
beforeAll(async () => {
  if (missingMailServers() === undefined) servers = await startServers();
});
afterAll(() => servers?.close());
beforeEach((context) => demandServers(context));
afterEach(closeAll);

async function reading(
  changes: Record<string, unknown> = {},
  given: Parameters<typeof open>[1] = {},
): Promise<Opened & { running: Promise<void> }> {
  const opened = open({ ...sectionOf(servers), ...changes }, given);
  const running = opened.run();
  await eventually(async () => (await opened.context.state.get("place")) !== undefined);
  return { ...opened, running };
}

/** Of those that came while the test ran; tests share the mailbox. */
async function received({ context }: Opened, text: string): Promise<Inbound> {
  const isIt = (one: Inbound): boolean => one.text.includes(text);
  await eventually(() => context.received.some(isIt));
  return context.received.find(isIt)!;
}

const answer = (inbound: Inbound, text: string, deliveryId: string): OutgoingMessage => ({
  conversation: inbound.conversation,
  text,
  deliveryId,
  ...(inbound.replyData !== undefined && { replyData: inbound.replyData }),
});

test("a mail is pushed by IDLE, and its answer is in the thread of whoever wrote", async () => {
  const channel = await reading({ display_name: "Agent Smith" });
  const headers = { References: "<a@example.org> <b@example.org>", "In-Reply-To": "<b@example.org>" };
  await write(servers, {
    subject: "Re: Größe",
    text: "What is **new**?",
    messageId: "<push@example.org>",
    headers,
    from: "Ada <ada@example.org>",
  });
  const inbound = await received(channel, "What is **new**?");
  expect(inbound).toMatchObject({
    id: "<push@example.org>",
    sender: PERSON,
    senderName: "Ada",
    conversation: { channel: "email", id: PERSON, thread: "<a@example.org>" },
    text: "What is **new**?",
  });
  const receipt = await channel.channel.send(answer(inbound, "Nothing **at all**.\n\n- really", "d-push"), never);
  const mail = await arrived(servers, PERSON, "Nothing");
  expect(mail.text).toMatch(/^From: Agent Smith <agent@example\.com>\r$/m);
  expect(mail.text).toMatch(/^In-Reply-To: <push@example\.org>\r$/m);
  expect(mail.text.replaceAll(/\r\n\s+/g, " ")).toMatch(
    /^References: <a@example\.org> <b@example\.org> <push@example\.org>\r$/m,
  );
  expect(mail.text).toMatch(/^Subject: =\?UTF-8\?Q\?Re=3A_Gr=C3=B6=C3=9Fe\?=\r$/m);
  expect(mail.text).toMatch(/^Auto-Submitted: auto-replied\r$/m);
  expect(mail.text).toContain(`Message-ID: ${receipt.platformId}`);
  expect(mail.bodyStructure).toMatchObject({
    type: "multipart/alternative",
    childNodes: [{ type: "text/plain" }, { type: "text/html" }],
  });
  expect(mail.text).toContain("<strong>at all</strong>");
});

test("a reply to that answer is in the same conversation, also of a program that names only what it answers", async () => {
  const channel = await reading();
  await write(servers, { subject: "Thread", text: "first of the thread", messageId: "<t1@example.org>" });
  const first = await received(channel, "first of the thread");
  const { platformId } = await channel.channel.send(answer(first, "An answer", "d-thread"), never);
  await write(servers, {
    subject: "Re: Thread",
    text: "second of the thread\n\nOn Monday, Agent wrote:\n> An answer",
    headers: { "In-Reply-To": platformId! },
  });
  const second = await received(channel, "second of the thread");
  expect(second).toMatchObject({ conversation: first.conversation, text: "second of the thread" });
});

test("a new message begins a thread, and whoever answers is where its receipt says", async () => {
  const channel = await reading();
  const message = {
    conversation: { channel: "email", id: PERSON },
    text: "Deploy now?\nIt is ready.",
    deliveryId: "d-new",
  };
  const { opened, platformId } = await channel.channel.send(message, never);
  expect(opened).toEqual({ channel: "email", id: PERSON, thread: platformId });
  const mail = await arrived(servers, PERSON, "It is ready.");
  expect(mail.text).toMatch(/^Subject: Deploy now\?\r$/m);
  expect(mail.text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  const headers = { "In-Reply-To": platformId!, References: platformId! };
  await write(servers, { subject: "Re: Deploy now?", text: "yes\n\n> Deploy now?\n> Answer: no", headers });
  const reply = await received(channel, "yes");
  expect(reply).toMatchObject({ text: "yes", conversation: opened });
});

test("old mail is not answered, and a wrong password keeps the channel off", async () => {
  await write(servers, { subject: "Old", text: "from before the channel" });
  await eventually(async () =>
    (await mailsOf(servers, OWN)).some(({ text }) => text.includes("from before the channel")),
  );
  const channel = await reading();
  await write(servers, { subject: "New", text: "from after that" });
  await received(channel, "from after that");
  expect(channel.context.received.some(({ text }) => text.includes("from before"))).toBe(false);
  const wrong = open({ ...sectionOf(servers), password: "wrong" });
  await expect(wrong.run()).rejects.toMatchObject({ code: "FEATURE_FAILED" });
  const message = { conversation: { channel: "email", id: PERSON }, text: "x", deliveryId: "d-wrong" };
  await expect(wrong.channel.send(message, never)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
});

test("attachments, both ways", async () => {
  const channel = await reading();
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 251));
  await write(servers, {
    text: "see the report",
    subject: "Report",
    files: [{ name: "report.pdf", mimeType: "application/pdf", bytes }],
  });
  const inbound = await received(channel, "see the report");
  expect(inbound.text).toMatch(/^Subject: Report\n\nsee the report\n\n\[file 1: report\.pdf, 300 kB\]$/);
  const [file] = inbound.media!;
  const got: Uint8Array[] = [];
  await channel.channel.media!.fetch(file!, async (chunk) => void got.push(chunk), never);
  expect(Buffer.concat(got).equals(bytes)).toBe(true);
  const outgoing = {
    kind: "document" as const,
    name: "Größe.bin",
    mimeType: "application/octet-stream",
    read: async () => bytes,
  };
  await channel.channel.send({ ...answer(inbound, "Here it is", "d-file"), files: [outgoing] }, never);
  const mail = await arrived(servers, PERSON, "Here it is");
  expect(mail.bodyStructure?.childNodes?.[1]).toMatchObject({
    type: "application/octet-stream",
    dispositionParameters: { filename: "Größe.bin" },
  });
});

test("an address that nobody has is refused for good; a mail that comes back is not answered, and told to the log", async () => {
  const channel = await reading({ allowed_senders: ["*"] });
  const to = (id: string, deliveryId: string) =>
    channel.channel.send({ conversation: { channel: "email", id }, text: "Hello?", deliveryId }, never);
  await expect(to("nobody@example.org", "d-550")).rejects.toMatchObject({ code: "DELIVERY_REFUSED" });
  const { platformId } = await to(LOST, "d-lost");
  await eventually(() => channel.context.log.lines.some(({ message }) => message.includes("did not arrive")));
  expect(channel.context.log.lines.find(({ message }) => message.includes("did not arrive"))?.fields).toEqual({
    mail: platformId,
    status: "5.1.1",
  });
  expect(channel.context.received).toEqual([]);
});

test("whoever only says to be somebody is not heard, whatever he writes on top of his mail", async () => {
  const channel = await reading({ allowed_senders: [PERSON, "mallory@evil.test"] });
  const forged = { "Authentication-Results": "mx.example.com; dmarc=pass header.from=example.org" };
  await servers.deliver(
    `Authentication-Results: ${forged["Authentication-Results"]}\r\nFrom: ${PERSON}\r\nTo: ${OWN}\r\nSubject: x\r\nMessage-ID: <forged@evil.test>\r\n\r\nforged mail\r\n`,
    { from: "mallory@evil.test", to: OWN },
  );
  await write(servers, { text: "genuine mail", subject: "y" });
  await received(channel, "genuine mail");
  expect(channel.context.received.some(({ text }) => text.includes("forged"))).toBe(false);
  const told = channel.context.log.lines.filter(({ message }) => message.includes("not proven"));
  expect(told).toMatchObject([{ level: "warn", fields: { sender: PERSON } }]);
});

test("mail is marked as read when its turn begins, and moved once it is answered; its files are found there", async () => {
  const channel = await reading({ processed_mailbox: "Done" });
  const file = { name: "a.txt", mimeType: "text/plain", bytes: Buffer.from("inside") };
  await write(servers, { text: "mark me", subject: "Mark", messageId: "<mark@example.org>", files: [file] });
  const inbound = await received(channel, "mark me");
  const { readMarks, media } = channel.channel;
  await readMarks!.mark(inbound.conversation, inbound.id!, never);
  const marked = (await mailsOf(servers, OWN)).find(({ text }) => text.includes("mark me"));
  expect(marked?.flags).toContain("\\Seen");
  await readMarks!.clear!(inbound.conversation, inbound.id!, never);
  expect((await mailsOf(servers, OWN)).some(({ text }) => text.includes("mark me"))).toBe(false);
  expect((await mailsOf(servers, OWN, "Done")).some(({ text }) => text.includes("mark me"))).toBe(true);
  const got: Uint8Array[] = [];
  await media!.fetch(inbound.media![0]!, async (chunk) => void got.push(chunk), never);
  expect(Buffer.concat(got).toString()).toBe("inside");
});

test("sent mail is kept where the server says, and not sent again when it is there", async () => {
  const channel = await reading({ save_sent: "auto" });
  const message = { conversation: { channel: "email", id: PERSON }, text: "Kept once", deliveryId: "d-kept" };
  const first = await channel.channel.send(message, never);
  const second = await channel.channel.send(message, never);
  expect(second).toEqual(first);
  const kept = (await mailsOf(servers, OWN, "Sent")).filter(({ text }) => text.includes("Kept once"));
  expect(kept).toHaveLength(1);
  expect(kept[0]?.flags).toContain("\\Seen");
  await channel.channel.send({ ...message, text: "The last one", deliveryId: "d-last" }, never);
  await arrived(servers, PERSON, "The last one");
  expect((await mailsOf(servers, PERSON)).filter(({ text }) => text.includes("Kept once"))).toHaveLength(1);
});

test("check signs in at both servers, and says what they can do", async () => {
  const { channel } = open(sectionOf(servers));
  expect(await channel.check!(never)).toMatch(
    /^agent@example\.com: INBOX with \d+ mails, told of new mail at once \(IDLE\); sends by 127\.0\.0\.1; senders are checked by mx\.example\.com$/,
  );
  const absent = open({ ...sectionOf(servers), mailbox: "Absent" });
  await expect(absent.channel.check!(never)).rejects.toMatchObject({ code: "CHANNEL_CANNOT" });
  const moved = open({ ...sectionOf(servers), processed_mailbox: "Absent" });
  await expect(moved.channel.check!(never)).rejects.toMatchObject({ code: "CHANNEL_CANNOT" });
});

test("the password is in no line of the servers' logs, nor of ours", async () => {
  const channel = await reading();
  await channel.channel.check!(never);
  expect(servers.dovecot.log() + servers.postfix.log() + channel.context.log.text()).not.toContain(PASSWORD);
});

// The last one: SMTP needs a moment to find the restarted server.
test("the server's connection process is killed, the server is restarted: run fails, and the next one misses nothing", async () => {
  const { state } = open({ ...sectionOf(servers) }).context;
  const first = await reading({}, { state });
  servers.dovecot.killConnections(OWN);
  await expect(first.running).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await write(servers, { subject: "Away", text: "written while nobody listened" });
  const second = await reading({}, { state });
  await received(second, "written while nobody listened");
  await servers.dovecot.stop();
  await expect(second.running).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await servers.dovecot.start();
  // Postfix keeps what came meanwhile; here it comes afterwards.
  await write(servers, { subject: "Back", text: "written after the restart" });
  const third = await reading({}, { state });
  await received(third, "written after the restart");
  expect(third.context.received.filter(({ text }) => text.includes("nobody listened"))).toEqual([]);
});
