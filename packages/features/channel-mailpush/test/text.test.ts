// What a mail says, as the model gets it: every kind of body, HTML of strangers, quotes of what was said before.
import type { Json } from "@svc/contract";
import { vectorCases } from "@svc/testkit";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { bodyText } from "../src/mail/body.ts";
import { htmlToText } from "../src/mail/html-text.ts";
import { leavesOf } from "../src/mail/parts.ts";
import { withoutQuote } from "../src/mail/quoted.ts";
import { closePlatforms, connected, never, NEWEST } from "./open-channel.ts";

afterEach(closePlatforms);

const body = (payload: unknown, snippet = "snippet") => bodyText({ leaves: leavesOf(payload), snippet });
const part = (mimeType: string, content: string | Uint8Array, more: object = {}) => ({
  mimeType,
  filename: "",
  body: { data: Buffer.from(content as string).toString("base64url") },
  ...more,
});

test.each(vectorCases<{ snippet: string }, string>("mailpush.body_text"))("$name", ({ input, expected }) => {
  expect(body(input, input.snippet)).toBe(expected);
});

test("plain text before HTML, wherever it is; both of a mixed one; no attached file", () => {
  const plain = part("text/plain", "plain\r\ntext");
  const html = part("text/html", "<p>html</p>");
  const file = part("text/plain", "file", { filename: "a.txt" });
  const attached = part("text/plain", "file", { headers: [{ name: "Content-Disposition", value: "attachment" }] });
  const multi = (kind: string, ...parts: object[]) => ({
    mimeType: `multipart/${kind}`,
    filename: "",
    body: { size: 0 },
    parts,
  });
  expect(body(multi("alternative", html, plain))).toBe("plain\ntext");
  expect(body(multi("mixed", multi("related", multi("alternative", plain, html)), file))).toBe("plain\ntext");
  expect(body(multi("mixed", plain, file, part("text/plain", "more")))).toBe("plain\ntext\n\nmore");
  expect(body(multi("mixed", html, attached))).toBe("html");
  expect(body(multi("alternative", part("text/plain", "  \n"), html))).toBe("html");
  expect(body(multi("mixed", file), "it&#39;s &amp; more")).toBe("it's & more");
  expect(body(part("TEXT/PLAIN", "loud"))).toBe("loud");
});

test("a text in another charset than UTF-8, with the right name of it, a wrong one, or none", () => {
  const latin = Buffer.from("Grüße", "latin1");
  const of = (value: string) => part("text/plain", latin, { headers: [{ name: "content-type", value }] });
  expect(body(of("text/plain; charset=iso-8859-1"))).toBe("Grüße");
  expect(body(of('text/plain; format=flowed; charset="windows-1252"'))).toBe("Grüße");
  expect(body(of("text/plain; charset=nonsense"))).toBe("Grüße");
  expect(body(of("text/plain"))).toBe("Grüße");
  expect(
    body(part("text/plain", "Grüße", { headers: [{ name: "Content-Type", value: "text/plain; charset=latin1" }] })),
  ).toBe("Grüße");
});

test.each([
  ["<p>Hello <b>w</b>orld</p><p>Next</p>", "Hello world\n\nNext"],
  ["a<br>b<br/><br>c", "a\nb\n\nc"],
  ["<div>a</div><div>b</div>", "a\nb"],
  ["<ul><li>a<li>b <i>c</i></ul>", "- a\n- b c"],
  ["<h1>T</h1>x", "T\n\nx"],
  ["1 &lt; 2 &amp; &uuml;&nbsp;&#128075; &bogus; 3 < 4", "1 < 2 & ü 👋 &bogus; 3 < 4"],
  ["<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"],
  ['<a href="https://x.example/?a=1&amp;b=2">here</a>', "here <https://x.example/?a=1&b=2>"],
  ["<a href=https://x.example/>https://x.example/</a>", "https://x.example/"],
  ['<a href="javascript:alert(1)">x</a> <a>y</a>', "x y"],
  ["<style>p{}</style><script>alert('<p>')</script><title>T</title>x<!-- <p>no</p> -->", "x"],
  ["<pre>  a\n    b</pre>", "a\n    b"],
  ["x<blockquote>y<blockquote>z</blockquote></blockquote>w", "x\n\n> y\n>\n> > z\n>\n\nw"],
  ['<img src="t.gif"><img alt="A cat">', "[A cat]"],
  ["a\u200b\u00adb\u202Ec", "abc"],
  ['<p title="a > b">x</p>', "x"],
  ["<p>it's <em>fine</em></p", "it's fine</p"],
  ["", ""],
])("%j is %j", (html, text) => {
  expect(htmlToText(html)).toBe(text);
});

test("HTML that is made to keep a parser busy is read like any other", () => {
  const units = [
    "<div>",
    "<b>x",
    "<a x='",
    "<a href='http://x.example'>y",
    "<!--",
    "<script>",
    "<ul><li>",
    "&amp",
    "<pre>\n",
    "<",
    "<blockquote>x",
  ];
  for (const unit of units) expect(htmlToText(unit.repeat(200_000)).length).toBeLessThanOrEqual(1_000_000);
});

test("no HTML at all makes it throw, and no text of it is lost that has no markup in it", () => {
  const bits = fc.constantFrom(
    "<p>",
    "</p>",
    "<a href='",
    "'>",
    "<b",
    ">",
    "<!--",
    "-->",
    "&lt;",
    "x",
    " ",
    "\n",
    "<pre>",
    "<blockquote>",
    '"',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(bits, fc.string())), (pieces) => {
      expect(htmlToText(pieces.join(""))).toBeTypeOf("string");
    }),
  );
  const words = fc.array(fc.stringMatching(/^[a-z0-9.,!?]{1,10}$/), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(words, (list) => {
      expect(htmlToText(`<div><p>${list.join("</b> <i>")}`).split(/\s+/)).toEqual(list);
    }),
  );
});

test.each([
  ["Yes.\n\nOn Tue, 3 Feb 2026 at 10:00, Agent <agent@example.com> wrote:\n> Shall I?\n>\n> Really?\n", "Yes."],
  ["Yes.\n\nOn Tue, 3 Feb 2026 at 10:00, Agent\n<agent@example.com> wrote:\n\n> Shall I?", "Yes."],
  ["Ja.\n\nAm Di., 3. Feb. 2026 um 10:00 Uhr schrieb Agent <agent@example.com>:\n\n> Soll ich?", "Ja."],
  ["Oui\n\nLe mar. 3 févr. 2026 à 10:00, Agent <a@b.example> a écrit :\n> x", "Oui"],
  ["Yes\n-----Original Message-----\nFrom: x\nwhat was said", "Yes"],
  ["Yes\n\nFrom: Agent <agent@example.com>\nSent: Tuesday\nTo: Ada\nSubject: Re: Hi\n\nShall I?", "Yes"],
  ["> Shall I?\n\nYes.\n\n> And then?\n\nNo.", "> Shall I?\n\nYes.\n\n> And then?\n\nNo."],
  ["> only a quote", "> only a quote"],
  ["Yes\n-- \nAda Lovelace\nLondon", "Yes"],
  ["a\n--\nb", "a"],
  [
    "From: the beginning, this is a sentence.\nSent: with love",
    "From: the beginning, this is a sentence.\nSent: with love",
  ],
  ["On the other hand I wrote:\nthis", "On the other hand I wrote:\nthis"],
  ["", ""],
])("of the reply %j is said: %j", (text, said) => {
  expect(withoutQuote(text)).toBe(said);
});

test("what is said is never longer than the mail, and never blank where the mail is not", () => {
  const lines = fc.constantFrom(
    "> q",
    "",
    "text",
    "On x wrote:",
    "-- ",
    "--",
    "-----Original Message-----",
    "From: a",
    "Sent: b",
    "Subject: c",
  );
  fc.assert(
    fc.property(fc.array(lines, { maxLength: 12 }), (list) => {
      const text = list.join("\n");
      const said = withoutQuote(text);
      expect(said.length).toBeLessThanOrEqual(text.length);
      expect(said === "").toBe(text.trim() === "");
    }),
  );
});

async function readOne(mail: object) {
  const { platform, channel, context } = await connected();
  platform.arrive({ from: "ada@example.org", ...mail });
  await channel.onNotice(NEWEST, never);
  return context.received[0];
}

test("of a reply only what is new; a forwarded mail stays whole", async () => {
  const text = "Look\n\nOn Tue, 3 Feb 2026, Bob <b@example.org> wrote:\n> the thing";
  const headers = { "In-Reply-To": "<m0@example.org>" };
  expect(await readOne({ text, headers, subject: "Re: It" })).toMatchObject({ text: "Look" });
  expect(await readOne({ text, headers, subject: "Fwd: It" })).toMatchObject({ text: `Subject: Fwd: It\n\n${text}` });
  expect(await readOne({ text, subject: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=" })).toMatchObject({
    text: `Subject: Grüße\n\n${text}`,
  });
});

test("a mail without a text, a subject or a file says nothing", async () => {
  expect(await readOne({ text: " \n" })).toBeUndefined();
  expect(await readOne({ subject: "Only this" })).toMatchObject({ text: "Subject: Only this" });
});

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>("text/plain", "text/html", "multipart/mixed", "QUJD", "a.txt", "1"),
    fc.jsonValue() as fc.Arbitrary<Json>,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom("mimeType", "filename", "body", "data", "parts", "headers", "name", "value", "partId"),
      tie("value"),
    ),
  ),
})).value;

test("no payload makes it throw", () => {
  fc.assert(
    fc.property(json, (payload) => {
      expect(body(payload)).toBeTypeOf("string");
    }),
  );
  const deep = Array.from({ length: 5000 }).reduce<object>((inner) => ({ parts: [inner, inner] }), {});
  expect(body(deep)).toBe("snippet");
});
