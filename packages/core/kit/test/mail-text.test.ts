// What a mail says: HTML of strangers as text, and of a reply what is new in it.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { htmlToText, withoutQuote, withoutSignature } from "../src/mail/index.ts";

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
  ["Yes\n\nOn Tue, 3 Feb 2026 at 10:00, Agent wrote:\n> Shall I?\n-- \nAda", "Yes"],
  ["yes\n\nSent from my iPhone\n\n> On 3 Feb 2026, at 10:00, Agent <a@b.example> wrote:\n> \n> Shall I?", "yes"],
  [
    `yes\n\nGet Outlook for iOS\n${"_".repeat(32)}\nFrom: Agent\nSent: Tuesday\nSubject: Deploy?\n\nAnswer: approve`,
    "yes",
  ],
  ["Yes\n\n---\n\nFrom: Agent\nSent: Tuesday\nTo: Ada\nSubject: Re: Hi\n\nShall I?", "Yes"],
  ["a\n---", "a\n---"],
  ["Sent from my desk", "Sent from my desk"],
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

test.each([
  ["Hello\n\n-- \nAda Lovelace\nLondon", "Hello"],
  ["Hello\nSent from my telephone", "Hello"],
  [`a\n--\n${"text\n".repeat(20)}end`, `a\n--\n${"text\n".repeat(20)}end`],
  ["> what Bob wrote\n\nis wrong", "> what Bob wrote\n\nis wrong"],
  ["--\nonly this", "--\nonly this"],
])("of the mail %j, which answers none, is said: %j", (text, said) => {
  expect(withoutSignature(text)).toBe(said);
});
