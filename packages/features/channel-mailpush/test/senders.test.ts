// Whose mail is answered: nobody's own, no program's, no stranger's, and nobody who only says to be somebody else.
import { vectorCases } from "@svc/testkit";
import { afterEach, expect, test } from "vitest";
import { isProven } from "../src/mail/authenticity.ts";
import { automaticBy } from "../src/mail/automatic.ts";
import { headersOf, headerText } from "../src/mail/headers.ts";
import { addressOf, mailboxOf, nameOf } from "../src/mail/sender.ts";
import { closePlatforms, connected, never, NEWEST, OWN } from "./open-channel.ts";

afterEach(closePlatforms);

const headers = (fields: Record<string, string>) =>
  headersOf({ headers: Object.entries(fields).map(([name, value]) => ({ name, value })) });

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

test.each([
  ["ada@example.org", "ada@example.org", undefined],
  ['"Ada <victim@example.net>" <ada@example.org>', "ada@example.org", "Ada <victim@example.net>"],
  ["=?utf-8?B?w4RkYQ==?= =?utf-8?q?_L=2E?= <ada@example.org>", "ada@example.org", "Äda L."],
  ["=?utf-8?q?=3Cvictim=40example.net=3E?= <ada@example.org>", "ada@example.org", "<victim@example.net>"],
  ["<a@example.org>,<b@example.net>", "b@example.net", "<a@example.org>,"],
])("%j is of %s, by the name of %j", (from, address, name) => {
  expect(addressOf(from)).toBe(address);
  expect(nameOf(from)).toBe(name);
});

test("only one plain address is somebody to write to", () => {
  expect(mailboxOf(" Ada@Example.ORG ")).toBe("ada@example.org");
  for (const text of [
    "",
    "ada",
    "@example.org",
    "ada@",
    "a@b@c",
    "a b@c",
    "a@b, c@d",
    "a@b;c@d",
    "<a@b>",
    '"a"@b',
    "a@b\r\nBcc: c@d",
  ]) {
    expect(mailboxOf(text)).toBeUndefined();
  }
});

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

test.each([
  "mailer-daemon@x.example",
  "no-reply@x.example",
  "noreply+1@x.example",
  "do_not_reply@x.example",
  "bounce-7@x.example",
])("%s is no person", (address) => {
  expect(automaticBy(headers({}), address)).toBe("From");
});

test("what a person writes is not taken for a program's", () => {
  const fields = {
    "Auto-Submitted": "no",
    Precedence: "first-class",
    "Return-Path": "<ada@example.org>",
    "Content-Type": "multipart/mixed",
  };
  for (const address of ["ada@example.org", "nora.reply@example.org", "notifying@example.org", "bouncer@example.org"]) {
    expect(automaticBy(headers(fields), address)).toBeUndefined();
  }
});

const checked = (results: string) => headers({ "Authentication-Results": `mx.google.com; ${results}` });

test.each([
  "dkim=pass header.i=@example.org header.s=s1 header.b=abc; spf=fail smtp.mailfrom=x@evil.test",
  "dkim=pass header.i=@mail.example.org header.s=s1 header.b=abc",
  "spf=pass (google.com: domain of ada@example.org designates 192.0.2.1 as permitted sender) smtp.mailfrom=ada@example.org",
  "dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=example.org",
])("the domain proves it: %s", (results) => {
  expect(isProven(checked(results), "ada@example.org")).toBe(true);
});

test.each([
  "dkim=pass header.i=@evil.test; spf=pass smtp.mailfrom=x@evil.test; dmarc=fail header.from=example.org",
  "dmarc=pass header.from=evil.test",
  "dkim=fail header.i=@example.org",
  "dkim=pass header.i=@org",
  "dkim=pass header.i=@notexample.org",
  "spf=softfail smtp.mailfrom=ada@example.org",
  "dkim=none; spf=none",
  'spf=pass smtp.mailfrom="x; dmarc=pass header.from=example.org "@evil.test',
  "spf=pass (domain of x designates; dmarc=pass header.from=example.org ) smtp.mailfrom=x@evil.test",
  "",
])("it proves nothing: %s", (results) => {
  expect(isProven(checked(results), "ada@example.org")).toBe(false);
});

test("the words of another server prove and disprove nothing", () => {
  expect(isProven(headers({ "Authentication-Results": "mx.evil.test; dmarc=fail" }), "ada@example.org")).toBe(true);
  expect(isProven(headers({}), "ada@example.org")).toBe(true);
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
