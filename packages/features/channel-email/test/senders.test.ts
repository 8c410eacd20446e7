// Whose mail is answered: no one's own, no program's, no stranger's, no one's who only says to be someone else; and no loop's.
import { type RawMail, rawMail } from "@svc/testkit/platforms/email/fake/raw-mail";
import { afterEach, expect, test } from "vitest";
import { createLoopCut, onlyAddressIn } from "../src/inbound.ts";
import { closeAll, connected, eventually, mailFrom, OWN, PERSON, PROVEN } from "./open.ts";

afterEach(closeAll);

const LAST = "the last one";

/** What is received of these mails, and the log of it. */
async function read(mails: readonly Buffer[], changes: Record<string, unknown> = {}) {
  const channel = await connected(changes);
  for (const mail of mails) channel.mail.inbox.add(mail);
  const proof = { "Authentication-Results": [`${PROVEN}example.org`] };
  channel.mail.inbox.add(rawMail({ from: PERSON, text: LAST, headers: { ...proof, "In-Reply-To": "<x@y>" } }));
  await eventually(() => channel.context.received.at(-1)?.text === LAST);
  const { log, received } = channel.context;
  return { log, received: received.slice(0, -1), senders: received.slice(0, -1).map(({ sender }) => sender) };
}

test("the allowlist takes addresses and domains; who is not on it is told once", async () => {
  const from = [
    PERSON,
    "ADA@Example.ORG",
    "Any <anybody@example.net>",
    "bob@example.org",
    "bob@example.org",
    "x@sub.example.net",
    "ada@example.org.evil.test",
  ];
  const { senders, log } = await read(from.map((one) => mailFrom(one, { text: "x" })));
  expect(senders).toEqual([PERSON, PERSON, "anybody@example.net"]);
  expect(log.lines.filter(({ message }) => message.includes("allowlist"))).toHaveLength(3);
});

test("our own mail is not answered, also where everybody may write", async () => {
  const { senders } = await read(
    [mailFrom(OWN, { text: "x" }), mailFrom(`Agent <${OWN.toUpperCase()}>`, { text: "x" })],
    {
      allowed_senders: ["*"],
    },
  );
  expect(senders).toEqual([]);
});

test.each<Record<string, string>>([
  { "Auto-Submitted": "auto-replied" },
  { "Auto-Submitted": "auto-generated (vacation)" },
  { Precedence: "bulk" },
  { Precedence: "list" },
  { Precedence: "junk" },
  { "List-Id": "<l.example.org>" },
  { "List-Unsubscribe": "<mailto:u@example.org>" },
  { "X-Autoreply": "yes" },
  { "X-Autorespond": "yes" },
  { "X-Auto-Response-Suppress": "All" },
  { "Return-Path": "<>" },
  { "Content-Type": 'multipart/report; report-type="disposition-notification"; boundary="x"' },
])("a mail with %j was written by no person", async (headers) => {
  expect((await read([mailFrom(PERSON, { text: "x", headers })])).senders).toEqual([]);
});

test.each([
  "MAILER-DAEMON@example.net",
  "postmaster@example.net",
  "no-reply@example.net",
  "noreply+1@example.net",
  "bounces-7@example.net",
])("%s is no person", async (from) => {
  expect((await read([mailFrom(from, { text: "x" })])).senders).toEqual([]);
});

const of = (results: string | readonly string[], more: Partial<RawMail> = {}): Buffer =>
  rawMail({ from: PERSON, text: "x", ...more, headers: { "Authentication-Results": results, ...more.headers } });

test.each<[string, string | readonly string[]]>([
  ["DMARC", "mx.example.com; dmarc=pass header.from=example.org"],
  ["an aligned DKIM", "mx.example.com; dkim=pass header.d=mail.example.org"],
  ["an aligned SPF", "mx.example.com; spf=pass smtp.mailfrom=ada@example.org"],
  ["our server below another", ["filter.example.com; x=y", "mx.example.com; dmarc=pass header.from=example.org"]],
])("%s proves a sender", async (_, results) => {
  expect((await read([of(results)])).senders).toEqual([PERSON]);
});

test.each<[string, Buffer]>([
  ["nothing", rawMail({ from: PERSON, text: "x" })],
  ["DKIM of another domain", of("mx.example.com; dkim=pass header.d=evil.test; spf=pass smtp.mailfrom=evil.test")],
  ["DMARC of another domain", of("mx.example.com; dmarc=pass header.from=evil.test")],
  ["DMARC that failed", of("mx.example.com; dkim=pass header.d=example.org; dmarc=fail header.from=example.org")],
  ["another server's word", of("mx.evil.test; dmarc=pass header.from=example.org")],
  ["a word further down", of(["mx.example.com; dmarc=none", "mx.example.com; dmarc=pass header.from=example.org"])],
  ["a comment", of("mx.example.com; spf=none (dmarc=pass header.from=example.org)")],
  [
    "a second From",
    of("mx.example.com; dmarc=pass header.from=example.org", { headers: { From: [PERSON, "mallory@evil.test"] } }),
  ],
  ["two addresses", of("mx.example.com; dmarc=pass header.from=example.org", { from: `mallory@evil.test, ${PERSON}` })],
  [
    "a folded header in another one",
    of("mx.example.com; dmarc=none\r\n\tx", {
      headers: { Subject: "x\r\n Authentication-Results: mx.example.com; dmarc=pass header.from=example.org" },
    }),
  ],
])("%s proves nothing", async (_, mail) => {
  expect((await read([mail])).senders).toEqual([]);
});

test("a made-up sender is told once; where nobody checks, that is told", async () => {
  const forged = of("mx.example.com; dmarc=fail header.from=example.org");
  const { log } = await read([forged, forged, rawMail({ from: PERSON, text: "x" })]);
  const told = log.lines.filter(({ level }) => level === "warn");
  expect(told.map(({ fields }) => fields)).toEqual([{ sender: PERSON }, { sender: PERSON }]);
  expect(told[0]?.message).toContain("not proven");
  expect(told[1]?.message).toContain("does not say");
});

test("without a server's name the topmost word counts; without require_authenticated none is needed", async () => {
  const topmost = of(["mx.other.example; dmarc=pass header.from=example.org", "mx.example.com; dmarc=fail"]);
  const lower = of(["mx.other.example; dmarc=none", "mx.example.com; dmarc=pass header.from=example.org"]);
  const none = rawMail({ from: PERSON, text: "x" });
  const proofs = { authserv_id: undefined };
  expect((await read([topmost], proofs)).senders).toEqual([PERSON]);
  expect((await read([lower], proofs)).senders).toEqual([]);
  expect((await read([lower, none], { require_authenticated: false })).senders).toEqual([PERSON, PERSON]);
});

test.each([
  ["ada@example.org", "ada@example.org"],
  ["Ada <ada@example.org>", "ada@example.org"],
  ['"Lovelace, Ada" <ada@example.org>', "ada@example.org"],
  ['"bob@example.net" <ada@example.org>', "ada@example.org"],
  ["ada@example.org (Ada, or so)", undefined],
  ["Lovelace, Ada <ada@example.org>", undefined],
  ["<bob@example.net> <ada@example.org>", undefined],
  ["Friends: ada@example.org;", undefined],
  ["", undefined],
  ["ada", undefined],
])("in %j is the address %s", (header, address) => {
  expect(onlyAddressIn(header)).toBe(address);
});

test("two people in one thread have a conversation each; the thread is what it began with", async () => {
  const headers = { References: "<root@example.org> <m1@example.org>", "In-Reply-To": "<m1@example.org>" };
  const { received } = await read([
    mailFrom(PERSON, { text: "a", headers }),
    mailFrom("bob@example.net", { text: "b", headers: { "In-Reply-To": "<root@example.org>" } }),
    mailFrom(PERSON, { text: "c", messageId: "<c@example.org>" }),
    mailFrom(PERSON, { text: "d", headers: { "Message-ID": [] } }),
  ]);
  expect(received.map(({ conversation }) => [conversation.id, conversation.thread])).toEqual([
    [PERSON, "<root@example.org>"],
    ["bob@example.net", "<root@example.org>"],
    [PERSON, "<c@example.org>"],
    [PERSON, "1000:4"],
  ]);
  expect(received[3]?.id).toBe("1000:4");
});

test("a mail that comes twice is one", async () => {
  const twice = mailFrom(PERSON, { text: "twice", messageId: "<twice@example.org>" });
  expect((await read([twice, twice])).received).toHaveLength(1);
});

test("a thread that runs faster than people write is cut: it is kept, and not answered", async () => {
  const headers = { "In-Reply-To": "<root@example.org>" };
  const mails = Array.from({ length: 6 }, (_, number) => mailFrom(PERSON, { text: `loop ${number}`, headers }));
  const { received, log } = await read(mails, { max_answers_per_hour: 3 });
  expect(received.map(({ kind }) => kind)).toEqual([
    undefined,
    undefined,
    undefined,
    "reaction",
    "reaction",
    "reaction",
  ]);
  expect(log.lines.some(({ level, message }) => level === "warn" && message.includes("within an hour"))).toBe(true);
});

test("what a loop is: by thread, by sender, by time, and the same of the same mail", () => {
  const isLoop = createLoopCut(2);
  let count = 0;
  const came = (sender: string, thread: string, minutes: number) =>
    isLoop({ id: String((count += 1)), sender, thread, cameMs: minutes * 60_000 });
  expect([came("a", "t", 0), came("a", "t", 1), came("a", "t", 2), came("b", "t", 2)]).toEqual([
    false,
    false,
    true,
    false,
  ]);
  // What is cut counts, too: it has to slow down.
  expect([came("a", "t", 59), came("a", "t", 60), came("a", "t", 119)]).toEqual([true, true, false]);
  const threads = Array.from({ length: 12 }, (_, number) => came("c", `thread ${number}`, 0));
  expect(threads.filter(Boolean)).toHaveLength(2);
  const same = { id: "same", sender: "d", thread: "t", cameMs: 0 };
  expect([isLoop(same), isLoop(same), isLoop(same)]).toEqual([false, false, false]);
  const free = createLoopCut(0);
  expect(Array.from({ length: 100 }, (_, number) => free({ ...same, id: String(number) }))).not.toContain(true);
});

test("a report that a mail of ours did not arrive is told to the log, once; what only looks like one is not", async () => {
  const id = `<${"a".repeat(32)}@example.com>`;
  const report = (messageId: string, status: string): Buffer =>
    rawMail({
      from: "MAILER-DAEMON@mx.example.com",
      headers: { "Content-Type": 'multipart/report; report-type=delivery-status; boundary="r"' },
      text: `--r\nContent-Type: text/plain\n\nSorry\n--r\nContent-Type: message/delivery-status\n\nAction: failed\nStatus: ${status}\n\n--r\nContent-Type: message/rfc822\n\nMessage-ID: ${messageId}\nSubject: x\n\nHello\n--r--\n`,
    });
  const { received, log } = await read(
    [
      report(id, "5.1.1"),
      report(id, "5.1.1"),
      report("<other@example.com>", "5.1.1"),
      report(`<${"a".repeat(32)}@evil.test>`, "5.1.1"),
      report(`<${"b".repeat(32)}@example.com>`, "4.2.1"),
    ],
    { allowed_senders: ["*"] },
  );
  expect(received).toEqual([]);
  const told = log.lines.filter(({ message }) => message.includes("did not arrive"));
  expect(told.map(({ fields }) => fields)).toEqual([{ mail: id, status: "5.1.1" }]);
});
