// An answer with fonts: what Markdown says, and nothing that a stranger made a model write.
import { expect, test } from "vitest";
import { htmlOf } from "../src/send/html.ts";

test("HTML of an answer holds nothing that runs, loads or leads elsewhere than it says", async () => {
  const evil = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "![pixel](https://tracker.test/p.png)",
    "[b](data:text/html,x)",
    "<a href='https://evil.test'>x</a>",
    '[c](https://x.test "a\\" onmouseover=\\"alert(1)")',
    "<https://y.test/?a=1&b=2>",
    "[ref]: javascript:alert(1)\n\n[d][ref]",
    "`<b>` & <",
  ].join("\n\n");
  const html = (await htmlOf(evil)) ?? "";
  const tags = new Set((html.match(/<\/?[a-z][^>]*>/gi) ?? []).map((tag) => tag.replace(/ .*/s, ">")));
  expect([...tags].toSorted()).toEqual([
    "</a>",
    "</body>",
    "</code>",
    "</head>",
    "</html>",
    "</p>",
    "<a>",
    "<body>",
    "<code>",
    "<head>",
    "<html>",
    "<meta>",
    "<p>",
  ]);
  expect(html.match(/href="[^"]*"/g)).toEqual([
    'href="https://tracker.test/p.png"',
    'href="https://x.test"',
    'href="https://y.test/?a=1&amp;b=2"',
  ]);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
});

test("no text keeps the writer of HTML busy, or makes it fail", async () => {
  for (const unit of ["*", "[", "](", "> ", "1. ", "**a", "|a|\n|-|\n", "<a ", "```\n", "_a_"]) {
    const started = performance.now();
    const html = await htmlOf(unit.repeat(40_000 / unit.length));
    expect(html === undefined || html.includes("<body>")).toBe(true);
    expect(performance.now() - started).toBeLessThan(10_000);
  }
  expect(await htmlOf("x".repeat(30_001))).toBeUndefined();
  expect(await htmlOf(" ")).toBeUndefined();
});
