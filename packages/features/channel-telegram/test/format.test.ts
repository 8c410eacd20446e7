// What a model writes must be seen as it is meant, and whatever it writes must be taken: the platform refuses a text with one tag
// too many, and people would get no answer at all.
import { cases } from "@svc/cases";
import { parseTelegramHtml } from "@svc/testkit/platforms/telegram/html";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatMarkdown } from "../src/format.ts";

const html = (markdown: string): string => formatMarkdown(markdown).html;

describe("within a line", () => {
  test.each([
    ["**bold** and __bold__", "<b>bold</b> and <b>bold</b>"],
    ["*it* and _it_", "<i>it</i> and <i>it</i>"],
    ["***both*** **a *b*** *a **b***", "<i><b>both</b></i> <b>a <i>b</i></b> <i>a <b>b</b></i>"],
    ["~~gone~~ ~not~", "<s>gone</s> ~not~"],
    ["`a < b` ``a ` b`` ` `", "<code>a &lt; b</code> <code>a ` b</code> <code> </code>"],
    ["`**not bold**`", "<code>**not bold**</code>"],
    ['5 < 6 & 7 > 2 "so"', "5 &lt; 6 &amp; 7 &gt; 2 &quot;so&quot;"],
    ["<b>not ours</b>", "&lt;b&gt;not ours&lt;/b&gt;"],
    ["2*3*4 = 24 and snake_case_name and __init__.py", "2*3*4 = 24 and snake_case_name and __init__.py"],
    ["中文**强调**中文 and *强*调", "中文<b>强调</b>中文 and <i>强</i>调"],
    [String.raw`\*no\* C:\dir \\`, String.raw`*no* C:\dir ` + "\\"],
    ["a * b * c and ** d **", "a * b * c and ** d **"],
    ["**a\nb**", "<b>a\nb</b>"],
    ["**a *b* `c", "**a <i>b</i> `c"],
  ])("%s", (markdown, expected) => {
    expect(html(markdown)).toBe(expected);
  });
});

describe("links", () => {
  test.each([
    ['[text](https://a.example/?x=1&y="2)', '<a href="https://a.example/?x=1&amp;y=&quot;2">text</a>'],
    ['[**b**](https://a.example "Title")', '<a href="https://a.example"><b>b</b></a>'],
    [
      "[x](https://a.example/(y)) [x](<https://a.example/a b>)",
      '<a href="https://a.example/(y)">x</a> <a href="https://a.example/a%20b">x</a>',
    ],
    ["![a cat](https://a.example/cat.png)", '<a href="https://a.example/cat.png">a cat</a>'],
    ["<https://a.example> [https://a.example](https://a.example)", "https://a.example https://a.example"],
    // What the platform drops silently, people read.
    ["[readme](docs/readme.md) [here](http://localhost:80/x)", "readme (docs/readme.md) here (http://localhost:80/x)"],
    ["[run](javascript:alert(1)) [mail](mailto:a@b.example)", "run (javascript:alert(1)) mail (mailto:a@b.example)"],
    ["[user](tg://user?id=1)", '<a href="tg://user?id=1">user</a>'],
    ["[a [b](https://b.example) c](https://a.example)", '[a <a href="https://b.example">b</a> c](https://a.example)'],
    ["[x] (y) [z](", "[x] (y) [z]("],
    ["[![p](https://a.example/p.png)](https://a.example)", '<a href="https://a.example">p</a>'],
    ["www.a.example ann@a.example", "www.a.example ann@a.example"],
  ])("%s", (markdown, expected) => {
    expect(html(markdown)).toBe(expected);
  });
});

describe("blocks", () => {
  test.each([
    ["# Title #\ntext\n### **Sub**", "<b>Title</b>\ntext\n<b><b>Sub</b></b>"],
    ["- a\n  * b\n+ [x] c\n- [ ] d\n1. e", "• a\n  • b\n☑ c\n☐ d\n1. e"],
    ["> a\n> > b\nc", "<blockquote>a\nb</blockquote>\nc"],
    ["a\n\n---\n\nb", "a\n\n———\n\nb"],
    ["```python\nif a < b:\n  **x**\n```", '<pre><code class="language-python">if a &lt; b:\n  **x**</code></pre>'],
    ["- item\n  ```\n  code\n  ```", "• item\n<pre>code</pre>"],
    ["````md\n```\nx\n```\n````", '<pre><code class="language-md">```\nx\n```</code></pre>'],
    ["```\nnot closed **x**", "<pre>not closed **x**</pre>"],
    ["~~~\nx\n~~~", "<pre>x</pre>"],
    ["a\r\nb\rc", "a\nb\nc"],
    ["- - a\n  - b\n1. c\n\n   d\n2. [x] e", "• • a\n  • b\n1. c\n\nd\n2. ☑ e"],
    ["a\n---\nb  \nc &copy;", "a\n———\nb\nc ©"],
    ["#nospace\n-nospace\n>quote", "#nospace\n-nospace\n<blockquote>quote</blockquote>"],
  ])("%j", (markdown, expected) => {
    expect(html(markdown)).toBe(expected);
  });

  test("a table has columns", () => {
    const table = "| Name | **Count** |\n|:-----|------:|\n| 日本 `x` | 1 |\n| a\\|b | 22 \n\nAfter";
    expect(html(table)).toBe("<pre>Name   | Count\n-------|------\n日本 x |     1\na|b    |    22</pre>\n\nAfter");
  });

  test("what only looks like a table is none", () => {
    expect(html("a | b\nc | d")).toBe("a | b\nc | d");
  });
});

/** Marks of Markdown and of HTML, words, and whatever else, in any order. */
const pieces = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ..."* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ( ) ]( ![ < > </ & &amp; | --- |---| # > - + 1. \\ \n \n\n".split(" "),
      "\n```js\n",
      "\n> ",
      "\n| a | b |\n|---|---|\n",
      " ",
      "https://a.example",
      "<b>",
      "</code>",
      "- [x] ",
    ),
  },
  { weight: 2, arbitrary: fc.stringMatching(/^[a-z0-9]{1,6}$/) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 6 }) },
);
const markdown = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(""));

const words = (text: string): string[] => text.match(/[a-z0-9]+/g) ?? [];

describe("whatever a model writes", () => {
  test("the platform can read it, and people read what we say they read", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const formatted = formatMarkdown(text);
        const parsed = parseTelegramHtml(formatted.html);
        if (typeof parsed === "string") throw new Error(parsed);
        expect(parsed.text).toBe(formatted.text.trim());
      }),
      { numRuns: cases(3000) },
    );
  });

  test("no word of it is lost, but for the address of a link, the language of code and entities", () => {
    const safe = markdown.filter((text) => !/\]\(|```|~~~|\||\[x\]|&/.test(text));
    fc.assert(
      fc.property(safe, (text) => {
        // Marks within a word may go: what is left is the same letters in the same order.
        expect(words(formatMarkdown(text).text).join("")).toBe(words(text).join(""));
      }),
      { numRuns: cases(2000) },
    );
  });

  test("it gets longer only where columns are made of a table", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        if (text.includes("|")) return;
        expect(formatMarkdown(text).text.length).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: cases(2000) },
    );
  });

  test("what a draft breaks off anywhere can be read, too", () => {
    const whole =
      "# T\n\n**b *i* `c`** [l](https://a.example)\n\n```js\nx < 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n- [x] d";
    for (let length = 0; length <= whole.length; length += 1) {
      expect(typeof parseTelegramHtml(html(whole.slice(0, length)))).toBe("object");
    }
  });

  test.each(["*a ", "[", "`", "**x", "_a*b~~c ", "![a](", "> ", "|a", "\\", "***a ", "<b", "a|-\n"])(
    "a text of nothing but %j takes no time to speak of: each character is looked at a few times",
    (unit) => {
      const text = unit.repeat(Math.floor(4096 / unit.length));
      expect(typeof parseTelegramHtml(html(text))).toBe("object");
    },
  );
});
