// An answer with fonts: what Markdown says, and nothing that a stranger made a model write.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { htmlOf } from "../src/send.ts";

const bodyOf = async (markdown: string): Promise<string | undefined> =>
  /<body>\n(.*)\n<\/body>/s.exec((await htmlOf(markdown)) ?? "")?.[1];

test.each([
  ["Hello **b** *i* ~~s~~ `c`", "<p>Hello <strong>b</strong> <em>i</em> <s>s</s> <code>c</code></p>"],
  ["a\nb\n\nc", "<p>a<br>\nb</p>\n<p>c</p>"],
  ["# One\n## Two", "<h1>One</h1>\n<h2>Two</h2>"],
  ["- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"],
  ["3. a\n4. b", '<ol>\n<li value="3">a</li>\n<li value="4">b</li>\n</ol>'],
  ["- [ ] a\n- [x] b", "<ul>\n<li>☐ a</li>\n<li>☑ b</li>\n</ul>"],
  ["> quoted", "<blockquote><p>quoted</p></blockquote>"],
  ["```html\n<p>\n```", "<pre><code>&lt;p&gt;</code></pre>"],
  [
    "| a | b |\n|---|:-:|\n| 1 | <i> |",
    '<table>\n<tr><th>a</th><th align="center">b</th></tr>\n<tr><td>1</td><td align="center">&lt;i&gt;</td></tr>\n</table>',
  ],
  ["a\n\n---\n\nb", "<p>a</p>\n<hr>\n<p>b</p>"],
  ["[here](https://x.example/?a=1&b=2)", '<p><a href="https://x.example/?a=1&amp;b=2">here</a></p>'],
])("%j is %j", async (markdown, html) => {
  expect(await bodyOf(markdown)).toBe(html);
});

test("it holds nothing that runs, loads or leads elsewhere than it says", async () => {
  const evil = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "![pixel](https://tracker.test/p.png)",
    "[b](data:text/html,x)",
    "<a href='https://evil.test'>x</a>",
    '[c](https://x.test "a\\" onmouseover=\\"alert(1)")',
    "[![d](https://y.test/p.png)](https://z.test)",
    "[ref]: javascript:alert(1)\n\n[e][ref]",
    "`<b>` & <",
  ].join("\n\n");
  const html = (await htmlOf(evil)) ?? "";
  const hrefs = (html.match(/href="[^"]*"/g) ?? []).map((href) => href.slice(6, -1));
  expect(hrefs).toEqual(expect.arrayContaining(["https://tracker.test/p.png", "https://x.test", "https://z.test"]));
  expect(hrefs.filter((href) => !/^https:\/\/[a-z]+\.test/.test(href))).toEqual([]);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
});

const TAG =
  /<(?:!DOCTYPE html|\/?(?:html|head|body|p|h[1-6]|hr|br|pre|code|table|tr|t[hd]|ul|ol|li|blockquote|strong|em|s|a)|meta charset="utf-8"|a href="(?:https?:|mailto:|tel:)[^"<>]*"|li value="\d+"|t[hd] align="\w+")>/g;

test("whatever is written, there are no tags and no attributes but these", async () => {
  const bits = fc.constantFrom(
    "<script>",
    "<b onclick=x>",
    '"',
    "'",
    "<",
    ">",
    "&",
    "[a](",
    "javascript:x",
    "https://e.test",
    ")",
    "![",
    "]",
    "**",
    "`",
    "\n",
    "> ",
    "- ",
    "1. ",
    "|",
    "|-|\n",
    "<https://e.test>",
    "#",
    "\\",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(bits, fc.string()), { maxLength: 40 }), async (pieces) => {
      const rest = ((await htmlOf(pieces.join(""))) ?? "").replaceAll(TAG, "");
      expect(rest).not.toMatch(/[<>]/);
    }),
  );
});

test("what is too long, or blank, has none", async () => {
  expect(await htmlOf("x".repeat(32_001))).toBeUndefined();
  expect(await htmlOf(" \n")).toBeUndefined();
});
