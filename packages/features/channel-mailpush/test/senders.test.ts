// Whose mail is answered: no one's own, no program's, no stranger's, and no one who only says to be someone else.
import { addressOf, automaticBy, headersFrom, headerText } from "@svc/kit/mail";
import { vectorCases } from "@svc/testkit/vectors";
import { afterEach, expect, test } from "vitest";
import { closePlatforms, connected, never, NEWEST, OWN } from "./open-channel.ts";

afterEach(closePlatforms);

const headers = (fields: Record<string, string>) => headersFrom(Object.entries(fields));

interface From {
  readonly from?: string;
  readonly header_value?: string;
}
test.each(vectorCases<From, { email?: string; sanitized?: string }>("mailpush.from_header"))(
  "From header: $name",
  ({ input, expected }) => {
    const { from = "", header_value: value } = input;
    expect(value === undefined ? { email: addressOf(from) } : { sanitized: headerText(value) }).toEqual(expected);
  },
);

async function read(...mails: ({ from?: string; headers?: Record<string, string>; labelIds?: string[] } & object)[]) {
  const opened = await connected();
  for (const mail of mails) opened.platform.arrive({ from: "ada@example.org", text: "x", ...mail });
  await opened.channel.onNotice(NEWEST, never);
  return opened;
}

test("the allowlist takes addresses and domains; who is not on it is told once", async () => {
  const { context } = await read(
    { from: "ada@example.org" },
    { from: "ADA@EXAMPLE.ORG" },
    { from: "anybody@example.net" },
    { from: "bob@example.org" },
    { from: "bob@example.org" },
    { from: "x@sub.example.net" },
    { from: "ada@example.org.evil.test" },
    { from: "nonsense" },
  );
  expect(context.received.map(({ sender }) => sender)).toEqual([
    "ada@example.org",
    "ada@example.org",
    "anybody@example.net",
  ]);
  expect(context.log.lines.filter(({ message }) => message.includes("allowlist"))).toHaveLength(3);
});

test("own mail is not answered, by its label or by its sender, also where everybody may write", async () => {
  const { platform, channel, context } = await connected({ allowed_senders: ["*"] });
  platform.arrive({ from: "ada@example.org", text: "x", labelIds: ["SENT", "INBOX"] });
  platform.arrive({ from: "ada@example.org", text: "x", labelIds: ["DRAFT", "INBOX"] });
  platform.arrive({ from: `Agent <${OWN.toUpperCase()}>`, text: "x" });
  await channel.onNotice(NEWEST, never);
  expect(context.received).toEqual([]);
});

test.each([
  { "Auto-Submitted": "auto-replied" },
  { "Auto-Submitted": "auto-generated; owner-email=x" },
  { Precedence: "bulk" },
  { Precedence: " List" },
  { "List-Id": "<l.example.org>" },
  { "List-Unsubscribe": "<mailto:u@example.org>" },
  { "X-Autoreply": "yes" },
  { "X-Auto-Response-Suppress": "OOF, AutoReply" },
  { "Return-Path": "<>" },
  { "Content-Type": 'multipart/report; report-type="delivery-status"' },
])("a mail with %j was written by no person", async (fields) => {
  expect(automaticBy(headers(fields), "ada@example.org")).toBeDefined();
  const { context } = await read({ headers: fields });
  expect(context.received).toEqual([]);
});

test("the words of another server prove and disprove nothing", async () => {
  const { context } = await read({ headers: { "Authentication-Results": "mx.evil.test; dmarc=fail" } });
  expect(context.received).toHaveLength(1);
});

test("a made-up sender is not answered and told once; where everybody may write it does not matter", async () => {
  const results = "mx.google.com; dkim=none; spf=fail smtp.mailfrom=x@evil.test; dmarc=fail header.from=example.org";
  const forged = { headers: { "Authentication-Results": results } };
  const { context } = await read(forged, forged, {});
  expect(context.received).toHaveLength(1);
  expect(context.log.lines).toMatchObject([{ level: "warn", fields: { sender: "ada@example.org" } }]);
  const all = await connected({ allowed_senders: ["*"] });
  all.platform.arrive({ from: "ada@example.org", text: "x", ...forged });
  await all.channel.onNotice(NEWEST, never);
  expect(all.context.received).toHaveLength(1);
});

test.each(["ada@example.org", "ADA@example.org", "@example.org"])(
  "nobody approves as %s by a made-up sender",
  async (who) => {
    const results = "mx.google.com; dkim=none; spf=fail smtp.mailfrom=x@evil.test; dmarc=fail header.from=example.org";
    const { platform, channel, context } = await connected({ allowed_senders: ["*"], approvers: [who] });
    platform.arrive({ from: "ada@example.org", text: "approve", headers: { "Authentication-Results": results } });
    platform.arrive({ from: "bob@example.net", text: "hi", headers: { "Authentication-Results": results } });
    await channel.onNotice(NEWEST, never);
    expect(context.received.map(({ sender }) => sender)).toEqual(["bob@example.net"]);
  },
);

test("two people in one thread have a conversation each", async () => {
  const { platform, channel, context } = await connected();
  const { mail } = platform.arrive({ from: "ada@example.org", text: "x" });
  platform.arrive({ from: "bob@example.net", text: "y", threadId: mail.threadId });
  await channel.onNotice(NEWEST, never);
  expect(context.received.map(({ conversation }) => [conversation.id, conversation.thread])).toEqual([
    ["ada@example.org", mail.threadId],
    ["bob@example.net", mail.threadId],
  ]);
});
