// What a mail says, as the model gets it: every structure, charset and damage that mail comes with.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { closeAll, connected, eventually, mailFrom, PERSON, PROVEN } from "./open.ts";

afterEach(closeAll);

/** A mail of a proven sender with this content type and body, as it is. */
const raw = (type: string, body: string | Buffer, more: readonly string[] = []): Buffer =>
  Buffer.concat([
    Buffer.from(
      [
        `Authentication-Results: ${PROVEN}example.org`,
        `From: ${PERSON}`,
        "In-Reply-To: <root@example.org>",
        `Content-Type: ${type}`,
        ...more,
        "",
        "",
      ].join("\r\n"),
    ),
    Buffer.isBuffer(body) ? body : Buffer.from(body.replaceAll(/\r?\n/g, "\r\n")),
  ]);

const multi = (kind: string, ...parts: readonly string[]): string =>
  `multipart/${kind}; boundary="b-${kind}"\n\n${parts.map((part) => `--b-${kind}\nContent-Type: ${part}\n`).join("")}--b-${kind}--\n`;

const mailOf = (whole: string): Buffer => {
  const [type = "", ...body] = whole.split("\n\n");
  return raw(type, body.join("\n\n"));
};

async function read(...mails: readonly Buffer[]): Promise<(string | undefined)[]> {
  const channel = await connected({ max_answers_per_hour: 0 });
  for (const mail of mails) channel.mail.inbox.add(mail);
  channel.mail.inbox.add(mailFrom(PERSON, { text: "the last one" }));
  await eventually(() => channel.context.received.at(-1)?.text === "the last one");
  return channel.context.received.slice(0, -1).map(({ text }) => text);
}

test.each([
  ["plain", "text/plain\n\nplain text", "plain text"],
  ["HTML", "text/html\n\n<p>Hello <b>w</b>orld</p><p>Next</p>", "Hello world\n\nNext"],
  ["both", multi("alternative", "text/plain\n\nplain", "text/html\n\n<p>html</p>"), "plain"],
  ["both, the plain one blank", multi("alternative", "text/plain\n\n \n", "text/html\n\n<p>html</p>"), "html"],
  ["two texts", multi("mixed", "text/plain\n\none", "text/plain\n\ntwo"), "one\n\ntwo"],
  [
    "an inline picture",
    multi(
      "related",
      "text/html\n\n<p>Look <img src='cid:1' alt='cat'></p>",
      'image/png; name="cat.png"\nContent-ID: <1>\nContent-Disposition: inline; filename="cat.png"\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=',
    ),
    "Look [cat]\n\n[file 1: cat.png, 8 bytes]",
  ],
  [
    "a text that is a file",
    multi(
      "mixed",
      "text/plain\n\nsee",
      'text/plain; name="a.txt"\nContent-Disposition: attachment; filename="a.txt"\n\nfile',
    ),
    "see\n\n[file 1: a.txt, 4 bytes]",
  ],
  [
    "a name in another script",
    multi(
      "mixed",
      "text/plain\n\nsee",
      "application/pdf\nContent-Disposition: attachment; filename*=UTF-8''%C3%9Cbersicht.pdf\n\nx",
    ),
    "see\n\n[file 1: Übersicht.pdf, 1 bytes]",
  ],
  [
    "a name that would be something else",
    multi(
      "mixed",
      "text/plain\n\nsee",
      'application/pdf\nContent-Disposition: attachment; filename="a]\u202Efdp.exe"\n\nx',
    ),
    "see\n\n[file 1: a fdp.exe, 1 bytes]",
  ],
  [
    "a file alone",
    'application/pdf\nContent-Disposition: attachment; filename="only.pdf"\n\nx',
    "[file 1: only.pdf, 1 bytes]",
  ],
  [
    "a forwarded mail",
    multi("mixed", "text/plain\n\nsee", "message/rfc822\n\nSubject: Inner\nContent-Type: text/plain\n\ninner text"),
    "see\n\n[file 1: Inner.eml, 54 bytes]",
  ],
  [
    "a signed one",
    multi("signed", "text/plain\n\nsigned text", 'application/pgp-signature; name="signature.asc"\n\n-----BEGIN'),
    "signed text",
  ],
  [
    "an encrypted one",
    multi("encrypted", "application/pgp-encrypted\n\nVersion: 1", "application/octet-stream\n\nx"),
    "[the mail is encrypted and can't be read]",
  ],
  [
    "format=flowed",
    "text/plain; format=flowed; delsp=no\n\nThis is one \nline.\n\nAnd another.",
    "This is one line.\n\nAnd another.",
  ],
  ["a multipart without parts", 'multipart/mixed; boundary="x"\n\nonly this', "only this"],
])("%s", async (_, mail, text) => {
  expect(await read(mailOf(mail))).toEqual([text]);
});

test.each([
  ["iso-8859-1", Buffer.from("Grüße", "latin1"), "Grüße"],
  ["windows-1252", Buffer.of(0x93, 0x61, 0x94, 0x80), "“a”€"],
  ["koi8-r", Buffer.of(0xd0, 0xd2, 0xc9), "при"],
  ["iso-2022-jp", Buffer.from("\x1b$B$3$s\x1b(B", "latin1"), "こん"],
  ["gb18030", Buffer.of(0xc4, 0xe3), "你"],
  ["utf-8", Buffer.from("👋 ü"), "👋 ü"],
  ["x-unheard-of", Buffer.from("plain"), "plain"],
])("a text in %s", async (charset, bytes, text) => {
  expect(await read(raw(`text/plain; charset=${charset}`, bytes, ["Content-Transfer-Encoding: 8bit"]))).toEqual([text]);
});

test.each([
  ["quoted-printable", "Gr=C3=BC=C3=9Fe =\nzusammen", "Grüße zusammen"],
  ["base64", "R3LDvMOfZQ==", "Grüße"],
  ["BASE64", "R3LD\nvMOfZQ==\n", "Grüße"],
  ["7bit", "plain", "plain"],
  ["nonsense", "plain", "plain"],
])("transferred as %s", async (encoding, body, text) => {
  expect(await read(raw("text/plain; charset=utf-8", body, [`Content-Transfer-Encoding: ${encoding}`]))).toEqual([
    text,
  ]);
});

test("of a huge mail no more is fetched than anybody reads, and its end is told to be missing", async () => {
  const channel = await connected();
  channel.mail.inbox.add(
    mailFrom(PERSON, { text: "word ".repeat(1_000_000), headers: { "In-Reply-To": "<r@example.org>" } }),
  );
  await eventually(() => channel.context.received.length === 1);
  const { text } = channel.context.received[0]!;
  expect(text.length).toBeGreaterThan(500_000);
  expect(text.length).toBeLessThan(530_000);
  expect(text).toMatch(/\[the mail's text is too long; its end is left out\]$/);
  const fetches = channel.mail.requests.filter(({ line }) => line.includes("BODY.PEEK[1]"));
  expect(fetches.every(({ line }) => /<0\.\d+>/.test(line))).toBe(true);
});

test("the subject is told with a first mail, what a reply quotes is not, a forwarded mail stays whole", async () => {
  const quote = "\n\nOn Tue, 3 Feb 2026, Bob <b@example.org> wrote:\n> the thing";
  const reply = { "In-Reply-To": "<m0@example.org>" };
  expect(
    await read(
      mailFrom(PERSON, { subject: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=", text: "Hello\n\n-- \nAda\nLondon" }),
      mailFrom(PERSON, { subject: "Re: It", text: `Yes${quote}`, headers: reply }),
      mailFrom(PERSON, { subject: "Fwd: It", text: `Look${quote}`, headers: reply }),
      mailFrom(PERSON, { text: `No subject${quote}` }),
      mailFrom(PERSON, { subject: "Only a subject" }),
      mailFrom(PERSON, { text: " \n" }),
    ),
  ).toEqual([
    "Subject: Grüße\n\nHello",
    "Yes",
    `Subject: Fwd: It\n\nLook${quote}`,
    `No subject${quote}`,
    "Subject: Only a subject",
  ]);
});

const CALENDAR = [
  "BEGIN:VCALENDAR",
  "METHOD:REQUEST",
  "BEGIN:VTIMEZONE",
  "TZID:Europe/Berlin",
  "END:VTIMEZONE",
  "BEGIN:VEVENT",
  "DTSTART;TZID=Europe/Berlin:20260301T120000",
  "DTEND;TZID=Europe/Berlin:20260301T130000",
  "SUMMARY:Team lunch\\, all of",
  "  us",
  'ORGANIZER;CN="Ada; L":mailto:ada@example.org',
  "LOCATION:Room 4",
  "BEGIN:VALARM",
  "SUMMARY:no",
  "END:VALARM",
  "END:VEVENT",
  "END:VCALENDAR",
].join("\r\n");

test("an invitation is named", async () => {
  const parts = [
    "text/plain\n\nPlease come",
    `text/calendar; charset=utf-8; method=REQUEST\n\n${CALENDAR.replaceAll("\r\n", "\n")}`,
  ];
  const [text] = await read(mailOf(multi("alternative", ...parts)));
  expect(text).toMatch(
    /^Please come\n\n\[invitation: Team lunch, all of us, 2026-03-01 12:00 to 2026-03-01 13:00 \(Europe\/Berlin\), Room 4, from ada@example\.org\]\n\n\[file 1: without a name, \d+ bytes\]$/,
  );
});

test("a command is one as a whole, in the text or in the subject", async () => {
  const mails = [
    mailFrom(PERSON, { subject: "Hi", text: "/model small\n-- \nAda" }),
    mailFrom(PERSON, { subject: "/status", text: "" }),
    mailFrom(PERSON, { subject: "Re: x", text: "/stop\n\n> Shall I?", headers: { "In-Reply-To": "<m@example.org>" } }),
    mailFrom(PERSON, { subject: "Hi", text: "/usr/bin is full\nplease look" }),
  ];
  expect(await read(...mails)).toEqual([
    "/model small",
    "/status",
    "/stop",
    "Subject: Hi\n\n/usr/bin is full\nplease look",
  ]);
});

/** A mail with everything in it. */
const WHOLE = mailOf(
  multi(
    "mixed",
    multi(
      "alternative",
      "text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe, a text of some length =\nfor damage",
      "text/html; charset=iso-8859-1\nContent-Transfer-Encoding: base64\n\nPHA+SGVsbG88L3A+",
    ),
    `text/calendar; method=REQUEST\n\n${CALENDAR.replaceAll("\r\n", "\n")}`,
    'application/pdf; name="a.pdf"\nContent-Disposition: attachment; filename="a.pdf"\nContent-Transfer-Encoding: base64\n\nQUJD',
    "message/rfc822\n\nSubject: Inner\n\ninner",
  ),
);

test("however a mail is damaged, it stops no others, and what is received of it is sound", async () => {
  const channel = await connected({ max_answers_per_hour: 0 });
  // Who wrote it is not what is damaged here.
  const [proof = "", from = "", ...rest] = WHOLE.toString("latin1").split("\r\n");
  const whole = rest.join("\r\n");
  const damage = fc.array(
    fc.record({
      at: fc.nat(whole.length - 1),
      remove: fc.nat(40),
      insert: fc.oneof(
        fc.constantFrom(
          "\r\n",
          "\r\n\r\n",
          "\0",
          "--b-mixed",
          "--b-mixed--",
          "Content-Type: ",
          '"',
          "=",
          "\x80\xff",
          "multipart/mixed",
          ";",
          "{9}",
          "(",
          ")",
        ),
        fc.string({ unit: "binary", maxLength: 20 }),
      ),
    }),
    { minLength: 1, maxLength: 8 },
  );
  let count = 0;
  await fc.assert(
    fc.asyncProperty(damage, async (edits) => {
      let mail = whole;
      for (const { at, remove, insert } of edits) mail = mail.slice(0, at) + insert + mail.slice(at + remove);
      channel.mail.inbox.add(Buffer.from(`${proof}\r\n${from}\r\n${mail}`, "latin1"));
      count += 1;
      channel.mail.inbox.add(mailFrom(PERSON, { text: `after damage ${count}`, headers: { "In-Reply-To": "<x@y>" } }));
      await eventually(() => channel.context.received.at(-1)?.text === `after damage ${count}`);
    }),
    { numRuns: cases(150) },
  );
  // Nearly all of them say something still.
  expect(channel.context.received.length).toBeGreaterThan(count * 1.8);
  for (const { text, id, conversation, media = [] } of channel.context.received) {
    expect([text.trim(), id, conversation.thread]).not.toContain("");
    for (const { placeholder } of media) expect(text).toContain(placeholder);
  }
});
