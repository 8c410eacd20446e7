// Every channel shows what is read here: a word that is lost, or a mark that is taken for formatting, is so everywhere.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { Tokenizer } from "marked";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Block, columnsOf, type Inline, plainOf, readMarkdown, type Table } from "../src/markdown/index.ts";
import { BoundedLexer, MAX_EFFORT } from "../src/markdown/read.ts";

/** Short for a tree: `b(…)` bold, `i(…)` italic, `s(…)` strike, `c(…)` code, `a(url …)` a link. */
const inlines = (all: readonly Inline[]): string => all.map(inline).join("");
function inline(one: Inline): string {
  if (one.kind === "text") return one.text;
  if (one.kind === "break") return "⏎";
  if (one.kind === "code") return `c(${one.text})`;
  if (one.kind === "link") return `a(${one.url ?? `?${one.target}`} ${inlines(one.children)})`;
  return `${one.kind[0]}(${inlines(one.children)})`;
}
const blocks = (all: readonly Block[]): string => all.map((one) => "\n".repeat(one.gap) + block(one)).join("");
function block(one: Block): string {
  switch (one.kind) {
    case "paragraph":
      return inlines(one.inlines);
    case "heading":
      return `h${one.level}(${inlines(one.inlines)})`;
    case "rule":
      return "hr";
    case "code":
      return `pre(${one.info}|${one.text})`;
    case "quote":
      return `q(${blocks(one.blocks)})`;
    case "definition":
      return `def(${one.text})`;
    case "table":
      return `table(${one.align.map((side) => side ?? "-").join()}|${one.rows.map((row) => row.map(inlines).join()).join(";")})`;
    case "list":
      return one.items
        .map(
          ({ gap, number, task, blocks: inner }) =>
            `${"\n".repeat(gap)}li(${[number, task].filter(Boolean).join(" ")}|${blocks(inner)})`,
        )
        .join("");
  }
}
const read = (markdown: string): string => blocks(readMarkdown(markdown));

describe("within a line", () => {
  test.each([
    ["**b** __b__ *i* _i_ ***x*** ~~s~~ ~n~", "b(b) b(b) i(i) i(i) i(b(x)) s(s) ~n~"],
    ["2*3*4 (a)*(b)*c snake_case __init__.py *a*b", "2*3*4 (a)*(b)*c snake_case __init__.py *a*b"],
    ["中文**强调**中文 *强*调", "中文b(强调)中文 i(强)调"],
    ["`a *b*` ``c`d`` `e", "c(a *b*) c(c`d) `e"],
    ["&amp;lt; &copy; \\&amp; &nope; \\*x\\* `&amp;`", "&lt; © &amp; &nope; *x* c(&amp;)"],
    ["<b>x</b> <Hangup/> <!-- c --> 1 < 2", "<b>x</b> <Hangup/> <!-- c --> 1 < 2"],
    ["**open *and `more", "**open *and `more"],
    ["**almost*", "**almost*"],
    ['[a](https://e.org/x_y "T") ![p](https://e.org/p.png)', "a(https://e.org/x_y a) a(https://e.org/p.png p)"],
    [
      "<https://e.org> <ann@e.org> see https://e.org/a_b.",
      "a(https://e.org https://e.org) a(mailto:ann@e.org ann@e.org) see a(https://e.org/a_b https://e.org/a_b).",
    ],
    [
      "[x](javascript:alert(1)) [y](docs/y.md) [z](tel:+123) <data:x>",
      "a(?javascript:alert(1) x) a(?docs/y.md y) a(tel:+123 z) <data:x>",
    ],
    ["[x](<https://e.org/a b>) [y](https://e.org/?a&amp;b)", "a(https://e.org/a%20b x) a(https://e.org/?a&b y)"],
    ["[unfinished](https://e.org/a", "[unfinished](a(https://e.org/a https://e.org/a)"],
    [
      "[r][k]\n\n[k]: https://k.example\n[k]: https://l.example",
      "a(https://k.example r)\n\ndef([k]: https://k.example)\na(https://k.example k): a(https://l.example https://l.example)",
    ],
  ])("%s", (markdown, expected) => {
    expect(read(markdown)).toBe(expected);
  });
});

describe("blocks and the white space between them", () => {
  test.each([
    ["a\nb  \nc\\\nd\r\ne", "a⏎b⏎c⏎d⏎e"],
    ["a\n\n\nb\n    c", "a\n\n\nb⏎    c"],
    ["# T #\ntext\n###### **S**\n#no", "h1(T)\ntext\nh6(b(S))\n#no"],
    ["a\n---\nb\n===", "a\nhr\nb⏎==="],
    ["#\n## \nx", "#⏎## ⏎x"],
    ["- a\n  * b\n+ [x] c\n- [ ] d\n3. e\n4) f", "li(|a\nli(|b))\nli(done|c)\nli(open|d)\nli(3.|e)\nli(4)|f)"],
    ["- a\n\n- b\n  c\nd", "li(|a)\n\nli(|b⏎c⏎d)"],
    ["1. a\n   ```js\n   x\n   ```\n2. b", "li(1.|a\npre(js|x))\nli(2.|b)"],
    ["> a\n> > b\nc", "q(a\nq(b))\nc"],
    ["> - a\n> \n> b", "q(li(|a)\n\nb)"],
    ["```a b\nx\n\n```\ny", "pre(a b|x\n)\ny"],
    ["~~~\n**x", "pre(|**x)"],
    ["a\n| n | c |\n|:--|--:|\n| 1 | `x` | y\\|z |\nb", "a\ntable(left,right,-|n,c,;1,c(x),y|z)\nb"],
    ["a | b\nc | d", "a | b⏎c | d"],
    ["<div>\n**x**\n</div>", "<div>⏎b(x)⏎</div>"],
    ["", ""],
  ])("%j", (markdown, expected) => {
    expect(read(markdown)).toBe(expected);
  });

  test.each(["| a |\n|---|\nx|more", "a |\n-|\n| x | more |", "| a |\n|---|\n| x | y | more"])(
    "of %j a cell without a column in the head is not lost",
    (markdown) => {
      expect(JSON.stringify(readMarkdown(markdown))).toContain("more");
    },
  );

  test("a table in columns", () => {
    const [table] = readMarkdown("| Name | n | mid |\n|--|-:|:-:|\n| 日本 **x** | 1 | a |\n| | 1000 | |");
    expect(columnsOf(table as Table)).toBe(
      "Name   |    n | mid\n-------|------|----\n日本 x |    1 |  a\n       | 1000 |",
    );
  });
});

const pieces = fc.oneof(
  fc.constantFrom(
    ..."* ** *** _ __ ~~ ` ``` [ ] ]( ![ ( ) < > | \\ & &amp; www. a@b.example https://e.org/ <b> <!--".split(" "),
    "\n```js\n",
    "\n> ",
    "\n|a|b|\n|-|-|\n",
    "# ",
    "- ",
    "\n  - ",
    "1. ",
    "- [x] ",
    "[k]: ",
    "\n---\n",
    "\n===\n",
    "\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "\u0000",
    "\r",
  ),
  fc.stringMatching(/^[a-z0-9]{1,5}$/),
  fc.string({ unit: "binary", maxLength: 4 }),
);
const markdown = fc.array(pieces, { maxLength: 50 }).map((parts) => parts.join(""));

/** All text of a tree, also what is not shown of it. */
const said = (all: readonly Block[]): string =>
  all
    .map((one) => {
      if (one.kind === "rule") return "";
      if (one.kind === "quote") return said(one.blocks);
      if (one.kind === "list") return one.items.map((item) => (item.number ?? "") + said(item.blocks)).join(" ");
      if (one.kind === "table") return one.rows.flat().map(saidIn).join(" ");
      if (one.kind === "code") return one.info + one.text;
      return one.kind === "definition" ? one.text : saidIn(one.inlines);
    })
    .join("");
const saidIn = (all: readonly Inline[]): string =>
  all
    .map((one) => (one.kind === "link" ? one.target : "") + ("children" in one ? saidIn(one.children) : plainOf([one])))
    .join("");

describe("whatever it is", () => {
  test("no letter of it is lost, and links lead where they may", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const tree = readMarkdown(text);
        const letters = (of: string): Set<string> => new Set(of.match(/[a-z0-9]/g));
        // Titles of links and marks of tasks are not text.
        const meant = text.replaceAll(/\[[xX]\]|&amp;|\]\([^)]*\)|\[[^\]]*\]/g, "");
        expect([...letters(meant)].filter((letter) => !letters(said(tree)).has(letter))).toEqual([]);
        for (const [, url] of JSON.stringify(tree).matchAll(/"url":"([^"]*)"/g)) {
          expect(url).toMatch(/^(?:https?:\/\/|mailto:|tel:)/i);
        }
      }),
      { numRuns: cases(3_000) },
    );
  });

  test("no text holds a line break, and no block begins further down than it was written", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const tree = readMarkdown(text);
        expect(JSON.stringify(tree)).not.toMatch(/"kind":"text","text":"(?:[^"\\]|\\[^n])*\\n/);
        expect(tree[0]?.gap ?? 0).toBe(0);
        const lines = text.split(/\r\n?|\n/).length - 1;
        expect(tree.reduce((sum, { gap }) => sum + gap, 0)).toBeLessThanOrEqual(lines);
      }),
      { numRuns: cases(1_000) },
    );
  });
});

describe("what is made to take for ever", () => {
  afterEach(() => vi.restoreAllMocks());

  const UNITS = [
    "* _ ~~ [ ![ ]( ` > < <!-- \\ & # | |a a_b a. a@b. https:// www. (( [a](b ![a](b [a][b] [k\\ `a*".split(" "),
    ["> ", "- ", "1. ", "***a ", "**a ", "_a*b~~c ", "*a **b ", "<a ", "    a\n", "[a]: b\n", "|a|\n|-|\n"],
    ["|a|\n|-|-|\n", "-\n-\n|", "- a\n", "- a\n  - ", "> - a\n", ">a\nb\n", "# \n", "a\n", "~~~\n", "-\n"],
    ["* a\n\n", "a\n=\n"],
  ].flat();

  /** Each call looks at a place once; what it looks at from there is within what the lexer lets it see. */
  function steps(work: () => void): number {
    const names = Object.getOwnPropertyNames(Tokenizer.prototype).filter((name) => name !== "constructor");
    const spies = names.map((name) => vi.spyOn(Tokenizer.prototype, name as "text"));
    work();
    const count = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
    for (const spy of spies) spy.mockRestore();
    return count;
  }

  test.each(UNITS)("200 000 characters of %j", (unit) => {
    const text = unit.repeat(Math.ceil(200_000 / unit.length));
    let tree: Block[] = [];
    const count = steps(() => {
      tree = readMarkdown(text);
    });
    expect(tree.length).toBeGreaterThan(0);
    expect(count).toBeLessThan(40 * 32_000);
    expect(nesting(tree)).toBeLessThan(30);
  });

  test("any mixture costs no more than it may, and marks beyond that are text", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...UNITS), { minLength: 1, maxLength: 4 }), (units) => {
        const unit = units.join("");
        const text = unit.repeat(Math.ceil(20_000 / unit.length));
        const lexer = new BoundedLexer();
        lexer.lex(text);
        expect(lexer.effort).toBeLessThanOrEqual(MAX_EFFORT);
        expect(nesting(readMarkdown(text))).toBeLessThan(30);
      }),
      { numRuns: cases(30) },
    );
  });

  test("an answer as models write them is far from it", () => {
    const answer = "Some **bold** words, a `name_of_it`, and [a link](https://e.org).\n- one *item*\n\n".repeat(50);
    const lexer = new BoundedLexer();
    lexer.lex(answer);
    expect(lexer.effort).toBeLessThan(MAX_EFFORT / 10);
  });
});

const nesting = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? 1 +
      Math.max(
        0,
        ...Object.values(value as Record<string, unknown>).map((one) =>
          Array.isArray(one) ? Math.max(0, ...one.map(nesting)) : nesting(one),
        ),
      )
    : 0;
