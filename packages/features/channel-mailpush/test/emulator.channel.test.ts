// The channel against a mailbox that is not ours: mail comes in by a push, and is answered in its thread, once.
import { mailpushDelivery } from "@svc/testkit/platforms/mailpush/push";
import { expect, test } from "vitest";
import { clientOf, LABEL, type OpenMailbox, OWN, startEmulator, TOKEN, TOPIC } from "./emulator/mailboxes.ts";
import { FILE, PLAIN, WITH_FILE } from "./emulator/mails.ts";
import { never, open, type Opened, requestOf, SECRET } from "./open-channel.ts";

const opened = ({ url }: OpenMailbox, changes: object = {}): Opened =>
  open({ api_url: url, oauth_token: TOKEN, topic: TOPIC, ...changes });

/** What Pub/Sub posts of it, from the door to the mailbox. */
async function pushed({ ingress, channel }: Opened, historyId: string): Promise<void> {
  const told = { id: `push of ${historyId}`, emailAddress: OWN, historyId, atMs: Date.now() };
  const request = requestOf(mailpushDelivery(told, SECRET));
  expect(ingress.verify(request)).toMatchObject({ ok: true });
  for (const { body } of ingress.parse(request).notices ?? []) await channel.onNotice(body, never);
}

test("a mail is read, and answered in its thread", async () => {
  await using mailbox = await startEmulator();
  const { messages, threads } = clientOf(mailbox).users;
  const one = opened(mailbox);
  await pushed(one, "1");
  const put = { raw: PLAIN, labelIds: ["INBOX", "UNREAD"] };
  const { data: theirs } = await messages.import({ userId: "me", requestBody: put });
  await pushed(one, theirs.historyId!);
  const { received } = one.context;
  expect(received).toMatchObject([
    {
      id: theirs.id,
      sender: "ada@example.org",
      senderName: "Ada",
      text: "Subject: A question\n\nHow far is it?",
      conversation: { channel: "mailpush", id: "ada@example.org", thread: theirs.threadId },
    },
  ]);

  const { conversation, replyData } = received[0]!;
  const answer = { conversation, text: "A mile, à peu près.", deliveryId: "delivery-1", replyData: replyData! };
  const { platformId } = await one.channel.send(answer, never);
  // Anyone who does not know whether it was sent sends it again.
  expect(await opened(mailbox).channel.send(answer, never)).toEqual({ platformId });
  const { data: thread } = await threads.get({ userId: "me", id: theirs.threadId! });
  expect(thread.messages).toHaveLength(2);
  const sent = thread.messages![1]!;
  expect(sent).toMatchObject({ id: platformId, labelIds: ["SENT"] });
  expect(Buffer.from(sent.payload?.body?.data ?? "", "base64url").toString()).toBe("A mile, à peu près.");
  const headers = Object.fromEntries(sent.payload?.headers?.map(({ name, value }) => [name, value]) ?? []);
  expect(headers).toMatchObject({
    From: OWN,
    To: "ada@example.org",
    Subject: "Re: A question",
    "In-Reply-To": "<m1@example.org>",
    References: "<m1@example.org>",
  });

  // Its own answer is none to be answered, whatever is pushed of it.
  await pushed(one, sent.historyId!);
  expect(received).toHaveLength(1);
  await one.channel.readMarks.mark(conversation, theirs.id!, never);
  const { data: read } = await messages.get({ userId: "me", id: theirs.id!, format: "minimal" });
  expect(read.labelIds).toEqual(["INBOX"]);
});

test("a file of a mail is fetched, and mail of other labels is left alone", async () => {
  await using mailbox = await startEmulator();
  const { messages } = clientOf(mailbox).users;
  const one = opened(mailbox, { label_filter: [LABEL.name] });
  await pushed(one, "1");
  await messages.import({ userId: "me", requestBody: { raw: PLAIN, labelIds: ["INBOX"] } });
  const put = { raw: WITH_FILE, labelIds: [LABEL.id] };
  const { data: theirs } = await messages.import({ userId: "me", requestBody: put });
  await pushed(one, theirs.historyId!);
  const { received } = one.context;
  expect(received.map(({ id }) => id)).toEqual([theirs.id]);
  const { media = [], text } = received[0]!;
  expect(text).toBe("Subject: A picture\n\nSee here.\n\n[file 1: paper.pdf]");
  expect(media).toMatchObject([{ kind: "document", mimeType: "application/pdf", fileName: "paper.pdf" }]);
  const chunks: Uint8Array[] = [];
  await one.channel.media.fetch(media[0]!, async (chunk) => void chunks.push(chunk.slice()), never);
  expect(Buffer.concat(chunks)).toEqual(FILE);
});
