// An answer must look as its author meant it: a character too many that formats, or a name that someone is woken up by, is
// another answer.
import { cases } from "@svc/cases";
import { type SeenRun, seenRuns, seenText } from "@svc/testkit/platforms/slack/mrkdwn";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineOf, mrkdwnOf, plainMrkdwn, richTextOf, type Run } from "../src/markdown.ts";

describe("what models write", () => {
  test.each([
    ["**bold** and __bold__", "*bold* and *bold*"],
    ["*it* and _it_", "_it_ and _it_"],
    ["***both***", "*_both_*"],
    ["~~gone~~ but ~not~", "~gone~ but <!date^00000000^{_}|~>not<!date^00000000^{_}|~>"],
    ["a `code` b", "a `code` b"],
    ["`` a`b ``", "`aˋb`"],
    ["# A title", "*A title*"],
    ["## A **bold** `title` ##", "*A bold `title`*"],
    ["[docs](https://example.org/a)", "<https://example.org/a|docs>"],
    ['[docs](https://example.org/a "A title")', "<https://example.org/a|docs>"],
    ["![alt](https://example.org/a.png)", "<https://example.org/a.png|alt>"],
    ["<https://example.org>", "<https://example.org>"],
    ["<ada@example.org>", "<mailto:ada@example.org|ada@example.org>"],
    ["See https://example.org/a_b_c.", "See <https://example.org/a_b_c>."],
    ["(https://example.org/a_(b))", "(<https://example.org/a_(b)>)"],
    ["https://example.org/?a=1&b=<2>", "<https://example.org/?a=1&amp;b=>&lt;2&gt;"],
    ["- one\n- two", "• one\n• two"],
    ["* one\n  * two\n    * three", "• one\n    • two\n        • three"],
    ["1. one\n2) two", "1. one\n2) two"],
    ["> a\n> b", "> a\n> b"],
    ["> a\n>> b", "> a\n> b"],
    ["---", "———"],
    ["```js\nlet a = 1 < 2;\n```", "```\nlet a = 1 &lt; 2;\n```"],
    ["~~~\na\n```\nb\n~~~", "```\na\n``\u200B`\nb\n```"],
    ["a\n\n\nb", "a\n\n\nb"],
    ["a\nb  \nc\\\nd", "a\nb\nc\nd"],
    ["a & b < c > d", "a &amp; b &lt; c &gt; d"],
    ["un**frigging**believable", "un\u200B*frigging*\u200Bbelievable"],
    ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
    [
      "\\*not\\* \\`it\\`",
      "<!date^00000000^{_}|*>not<!date^00000000^{_}|*> <!date^00000000^{_}|`>it<!date^00000000^{_}|`>",
    ],
    ["\\> no quote", "\u00AD&gt; no quote"],
    ["**a *b* c**", "*a _b_ c*"],
    ["*a **b** c*", "_a *b* c_"],
    ["**bold **not", "**bold **not"],
    ["2*3*4 and __init__.py", "2*3*4 and <!date^00000000^{_}|__>init<!date^00000000^{_}|__>.py"],
    ["- [ ] a\n- [x] b\n  c", "☐ a\n☑ b\n   c"],
    ["1. a\n\n   b\n   - c\n     ```\n     d\n     ```", "1. a\n\n   b\n    • c\n```\nd\n```"],
    ["- > a\n- - b", "• \n> a\n• \n    • b"],
    ["[a](docs/a.md) &copy; `&copy;`", "a (docs/a.md) © `&amp;copy;`"],
    ["# Title\ntext\n---\nend", "*Title*\ntext\n———\nend"],
  ])("%j is %j", (markdown, mrkdwn) => {
    expect(mrkdwnOf(markdown)).toBe(mrkdwn);
  });

  test("a table becomes columns", () => {
    const table =
      "| Name | Count |\n|:-----|------:|\n| `a` | 1 |\n| **long name** | 1000 |\n| 日本 | x \\| y |\nafter";
    expect(mrkdwnOf(table)).toBe(
      [
        "```",
        "Name      | Count",
        "----------|------",
        "a         |     1",
        "long name |  1000",
        "日本      | x | y",
        "```",
        "after",
      ].join("\n"),
    );
  });

  test.each([
    ["an unfinished fence", "Look:\n```js\nlet a", "Look:\n```\nlet a\n```"],
    ["unfinished bold", "It is **really", "It is **really"],
    ["an unfinished link", "See [the docs](https://example.org/a_b", "See [the docs](<https://example.org/a_b>"],
    ["half a table", "| a | b |\n| --", "| a | b |\n| --"],
    ["a lone backtick", "A lone ` here", "A lone ` here"],
  ])("%s breaks nothing", (_, markdown, mrkdwn) => {
    expect(mrkdwnOf(markdown)).toBe(mrkdwn);
  });
});

describe("nobody is mentioned, and nothing leads where only the platform may be told to lead", () => {
  test.each([
    "<!channel> <!here> <!everyone>",
    "<@U0PERSON1> <#C0123> <!subteam^S0123>",
    "[x](<!channel>) [y](<@U0PERSON1>) [z](!here)",
    "[<!channel>](https://example.org)",
    "`<!channel>` and ```\n<!channel>\n```",
    "[a](slack://open) [b](javascript:alert(1)) [c](data:text/html,x) [d](//example.org)",
    "<!date^1^{date}^https://evil.example|x>",
    "[a](https://example.org|<!channel>)",
    "[a](https://example.org/%7C!channel>)",
    "| <!channel> |\n|---|\n| <@U0PERSON1> |",
    "> <!channel>",
    "# <!channel>",
  ])("%j", (markdown) => {
    const runs = [mrkdwnOf(markdown), plainMrkdwn(markdown)].flatMap(seenRuns);
    expect(runs.filter(({ mention }) => mention !== undefined)).toEqual([]);
    const urls = runs.flatMap(({ url }) => url ?? []);
    expect(urls.filter((url) => !/^(?:https?:\/\/|mailto:|tel:)/.test(url))).toEqual([]);
  });
});

/** Characters and words that mean something to one of the two, in any order. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(..."*_~`<>&|[]()!#\\-+.:\n \t1aZé日👋\u200B\uFF1E\u00A0".split(/(?:)/u)),
      fc.constantFrom(
        "**",
        "***",
        "__",
        "~~",
        "```",
        "```\n",
        "\n```\n",
        "> ",
        "- ",
        "1. ",
        "# ",
        "<!channel>",
        "<@U1>",
      ),
      fc.constantFrom(
        "https://e.org/a_b",
        "[a](https://e.org)",
        "&amp;",
        "<!date^0^{_}|*>",
        "| a |\n|---|\n",
        "word",
        "`x`",
      ),
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(""));

test("whatever a model writes, nobody is mentioned, and its words are there", () => {
  fc.assert(
    fc.property(nasty, (markdown) => {
      const seen = seenRuns(mrkdwnOf(markdown));
      expect(seen.filter(({ mention }) => mention !== undefined)).toEqual([]);
      const words = (text: string): string[] => text.match(/word|[aZ日👋]/gu) ?? [];
      const plain = seen.map(({ text, url }) => (url === undefined || url === text ? text : `${text} ${url}`)).join("");
      // Names of languages are left out, in quotes and items of lists too.
      const said = markdown.replaceAll(
        /^(?:[\s>]|[-*+] |\d[.)] )*(?:`{3,}|~{3,})\s*[\w+#.-]{0,20}\s*$|<!(?:channel|date\S*)|&amp;/gm,
        "",
      );
      for (const word of new Set(words(said))) expect(plain).toContain(word);
    }),
    { numRuns: cases(1_000) },
  );
});

test("whatever a text is, as it is it stays: what people see are its characters, unformatted", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const seen = seenRuns(plainMrkdwn(text));
      expect(seen.map((run) => run.text).join("")).toBe(text.replaceAll(/[\u200B\u00AD]/g, ""));
      expect(
        seen.filter(
          ({ bold, italic, strike, code, url, mention }) => bold ?? italic ?? strike ?? code ?? url ?? mention,
        ),
      ).toEqual([]);
    }),
    { numRuns: cases(1_000) },
  );
});

/** Text of which no part could be taken for another line's. */
const words = fc
  .array(
    fc.constantFrom("*", "_", "~", "`", "<", ">", "&", "|", "!", " ", ".", "(", "a", "b", "é", "1", "**", "&lt;"),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(""));

const flag = fc.option(fc.constant(true as const), { nil: undefined });
const run: fc.Arbitrary<Run> = fc
  .record({
    text: words,
    bold: flag,
    italic: flag,
    strike: flag,
    code: flag,
    url: fc.option(fc.constant("https://e.org/a_b?c=1&d"), { nil: undefined }),
  })
  .map(({ text, bold, italic, strike, code, url }) => ({
    text,
    ...(bold && { bold }),
    ...(italic && { italic }),
    ...(strike && { strike }),
    ...(url !== undefined ? { url } : code && text.trim() !== "" && { code }),
  }));

/** Each character that can be seen, and how it looks. */
function looks(runs: readonly (Run | SeenRun)[]): string[] {
  return runs.flatMap(({ text, bold, italic, strike, code, url }) => {
    const look = [bold && "b", italic && "i", strike && "s", code && "c", url].filter(Boolean).join();
    const shown = (url === undefined && !code ? text : text.trim())
      // What can't be escaped in code and in labels is shown by its like.
      .replaceAll(/[∗ˍ∼ˋ]/g, (char) => ({ "∗": "*", ˍ: "_", "∼": "~", ˋ: "`" })[char]!)
      .replaceAll(/\s/g, "");
    return [...shown].map((char) => `${char} ${look}`);
  });
}

test("every line of runs looks as it was meant, to whoever reads it by the platform's rules", () => {
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 5 }), (runs) => {
      const meant = runs.map((one) =>
        one.url !== undefined && one.text.trim() === "" ? { ...one, text: one.url } : one,
      );
      expect(looks(seenRuns(lineOf(runs)))).toEqual(looks(meant));
    }),
    { numRuns: cases(2_000) },
  );
});

test("as a rich text block it has the same words, and no element that the platform refuses", () => {
  fc.assert(
    fc.property(nasty, (markdown) => {
      const { type, elements } = richTextOf(markdown) as unknown as {
        type: string;
        elements: readonly { elements: readonly { text: string }[] }[];
      };
      expect(type).toBe("rich_text");
      for (const { text } of elements.flatMap((element) => element.elements)) expect(text).not.toBe("");
    }),
    { numRuns: cases(1_000) },
  );
});

test("nothing but marks is still nothing that the platform would cut", () => {
  expect(mrkdwnOf("a ***** b _____ c")).toBe("a <!date^00000000^{_}|*****> b <!date^00000000^{_}|_____> c");
  expect(mrkdwnOf("x ```` y")).toBe("x <!date^00000000^{_}|``><!date^00000000^{_}|``> y");
  for (const unit of ["*,", "_.", "`a", "~ ~", "<*>", "\\*,"]) {
    const text = unit.repeat(Math.floor(4_000 / unit.length));
    expect(mrkdwnOf(text).length).toBeLessThanOrEqual(40_000);
    expect(plainMrkdwn(text).length).toBeLessThanOrEqual(40_000);
    expect(seenText(plainMrkdwn(text)).replaceAll(/[*_~`]/g, "")).toBe(text.replaceAll(/[*_~`]/g, ""));
  }
});

test("a long answer of nothing but marks is read", () => {
  for (const text of [
    "*a _b `c ~~d [e](",
    "[",
    "![",
    "` a",
    "_*",
    "**",
    "<",
    "| a ",
    "> ",
    "- ",
    "((",
    "https://e.org/((",
  ]) {
    const long = text.repeat(Math.ceil(8_000 / text.length));
    expect(seenText(mrkdwnOf(long)).length).toBeGreaterThan(0);
  }
});
