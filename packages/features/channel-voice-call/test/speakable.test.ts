// An asterisk that is spelt out, an address that is read to the end, code that no one can follow; and a text of a model's, or of
// someone who talked it into it, that breaks out of the document, or makes one the platform refuses.
import { cases } from "@svc/cases";
import { speakableOf as speakable } from "@svc/kit/markdown";
import { parseTwiml, type TwimlNode } from "@svc/testkit/platforms/voice-call/twiml";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import { MAX_CHARS, wordsOf } from "../src/send.ts";
import { initialProgress, nextProgress } from "../src/progress.ts";
import { documents, sayable } from "../src/twiml.ts";
import { SECTION } from "./fixture.ts";

const CODE = "Code is left out.";

const speakableOf = (markdown: string, codeNotice: string): string =>
  speakable(markdown, { codeNotice, clean: sayable });

describe("an answer in Markdown", () => {
  test.each([
    ["emphasis", "It is **really** _very_ ~~cold~~ `hot`.", "It is really very cold hot."],
    ["a link", "See [the docs](https://example.org/a_b?c=d).", "See the docs."],
    ["an address", "See https://www.example.org/a/b?c=1.", "See example.org."],
    ["an address in brackets", "See <https://example.org/x>.", "See example.org."],
    ["a mail address", "Write to ann@example.org.", "Write to ann@example.org."],
    ["a heading", "# Results\nAll well.", "Results.\nAll well."],
    ["a list", "- apples\n- pears!\n* 3 figs", "apples.\npears!\n3 figs."],
    ["a numbered list", "3. three\n4. four", "3. three.\n4. four."],
    ["tasks", "- [ ] wash\n- [x] cook", "wash.\ncook."],
    ["a list in a list", "- fruit\n  - apples\n  - pears\n- nuts", "fruit.\napples.\npears.\nnuts."],
    ["a table", "| name | age |\n|--|--|\n| Ann | 7 |\n| Bob | |", "name, age.\nAnn, 7.\nBob."],
    ["a quote", "> She said\n> so.", "She said\nso."],
    ["a picture", "![a cat](cat.png)", "a cat"],
    ["a line", "One.\n\n---\n\nTwo.", "One.\nTwo."],
    ["a line and nothing else", "---", ""],
    ["code", "Run this:\n```sh\nrm -rf x\n```\nand\n```\nthat\n```\nDone.", `Run this:\n${CODE}\nand\nDone.`],
    ["code in a list", "1. Do:\n   ```\n   x\n   ```", `1. Do:\n${CODE}`],
    ["code that is not closed", "Look:\n```js\nconst a", `Look:\n${CODE}`],
    ["an indented line", "    four spaces", "four spaces"],
    ["sums", "2*3*4 is 24, and snake_case_word", "2*3*4 is 24, and snake_case_word"],
    ["entities", "Tom &amp; Jerry &lt;3", "Tom & Jerry <3"],
    ["references", "See [the docs][d].\n\n[d]: https://example.org/x", "See the docs."],
    ["a character that can't be said, by its number", "a&#1;b&#xFFFF;c", "abc"],
    ["what looks like elements", "Say <Hangup/> & <b>bold</b>", "Say <Hangup/> & <b>bold</b>"],
    ["what XML can't hold", "a\u0000b\u0008c\uD800d\uFFFEe\r\nf", "abcde\nf"],
  ])("%s", (_, markdown, spoken) => {
    expect(speakableOf(markdown, CODE)).toBe(spoken);
  });

  test("code is not even mentioned where that is wished", () => {
    expect(speakableOf("Look:\n```\nx\n```", " ")).toBe("Look:");
  });
});

const markdown = fc
  .oneof(
    fc.string({ unit: "binary", maxLength: MAX_CHARS }),
    fc.string({ unit: "grapheme", maxLength: MAX_CHARS / 4 }),
    fc
      .array(
        fc.constantFrom(
          "&",
          "<",
          ">",
          '"',
          "'",
          "]]>",
          "<!--",
          "<?xml?>",
          "<Hangup/>",
          "</Say>",
          "</Response>",
          "&amp;",
          "&#0;",
          "&x;",
          "**",
          "_",
          "`",
          "```\n",
          "~~~\n",
          "# ",
          "- ",
          "1. ",
          "> ",
          "| a | b |\n|--|--|\n",
          "[a](b)",
          "![",
          "](",
          "\n",
          "\n\n",
          "    ",
          "\\",
          "https://example.org/a&b",
          "word ",
          "語",
          "👩‍👩‍👧",
          "\u0000",
          "\uD800",
          "\u202E",
          "\u2028",
        ),
        { maxLength: 120 },
      )
      .map((parts) => parts.join("")),
  )
  .map((text) => text.slice(0, MAX_CHARS));

describe("any text of a model's", () => {
  const worst = {
    ...SECTION,
    webhook_url: `https://${"svc".repeat(20)}.example.org/${"a".repeat(90)}`,
    voice: "Google.en-US-Chirp3-HD-Aoede-and-a-long-name",
    language: "zh-Hant-TW",
  };
  const section = v.parse(config, worst);
  const written = documents(section, section.webhook_url!);
  const progress = nextProgress(initialProgress(1_790_000_000_000), 1_790_000_000_000, {
    said: "0123456789abcdef",
    turn: 12_345,
  });
  const textOf = (nodes: readonly TwimlNode[]): string =>
    nodes.map(({ name, text, children }) => (name === "Say" ? text : textOf(children))).join("");
  const shape = (nodes: readonly TwimlNode[]): string =>
    nodes.map(({ name, children }) => (children.length > 0 ? `${name}(${shape(children)})` : name)).join(" ");

  test("is a document the platform takes, whose words are the words and whose verbs are ours", async () => {
    await fc.assert(
      fc.asyncProperty(markdown, async (text) => {
        const message = { conversation: { channel: "voice_call", id: "+1" }, text, deliveryId: "d" };
        const words = await wordsOf(message, section);
        if (words.text === "") return;
        const spoken = { text: words.text };
        const document = written.listening(progress, { spoken, silenceSecs: 60, onSilence: { ...progress, quiet: 1 } });
        const verbs = parseTwiml(document);
        expect(shape(verbs)).toBe("Gather(Say) Redirect");
        expect(textOf(verbs)).toBe(words.text);
        // In an update of a call there is no more room.
        expect(document.length).toBeLessThanOrEqual(4000);
      }),
      { numRuns: cases(2_000) },
    );
  });

  test.each([["&".repeat(MAX_CHARS)], ["語".repeat(MAX_CHARS)], ["<".repeat(MAX_CHARS)], ["👋".repeat(MAX_CHARS / 2)]])(
    "fits, whatever it is made of: %.5s",
    async (text) => {
      const message = { conversation: { channel: "voice_call", id: "+1" }, text, deliveryId: "d" };
      const words = await wordsOf(message, section);
      const document = written.listening(progress, {
        spoken: { text: words.text },
        silenceSecs: 60,
        onSilence: progress,
      });
      parseTwiml(document);
      expect(document.length).toBeLessThanOrEqual(4000);
    },
  );
});
