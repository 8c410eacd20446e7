// The pages are read on machines without a network, and by people who tell nobody what they read: one font from elsewhere and
// both are over.
import { describe, expect, test } from "vitest";
import { addressesIn } from "../src/site/requests.ts";

describe("of a page, what it embeds counts", () => {
  test.each([
    ['<a href="https://example.org/">x</a> <code>https://example.org</code>'],
    ['<script type="module" src="/assets/app.js"></script><link rel="icon" href="data:,">'],
    ['<p>curl http://127.0.0.1:42617/health</p><img src="/a.png" alt="//x">'],
  ])("passes: %s", (html) => {
    expect(addressesIn("guide/a.html", html)).toEqual([]);
  });

  test.each([
    ['<img alt="x" src="https://example.org/a.png">', "https://example.org/a.png"],
    ["<script async src=//example.org/a.js></script>", "//example.org/a.js"],
    ["<link rel=stylesheet href='https://example.org/a.css'>", "https://example.org/a.css"],
    ['<style>@import "https://example.org/a.css";</style>', "https://example.org/a.css"],
    ['<p style="background:url(//example.org/a.png)">', "//example.org/a.png"],
  ])("fails: %s", (html, address) => {
    expect(addressesIn("guide/a.html", html)).toEqual([address]);
    expect(addressesIn("assets/guide_a.md.x1.js", html.replaceAll('"', '\\"'))).toEqual([address]);
  });
});

describe("of scripts and styles, every address counts", () => {
  test.each(['fetch("https://example.org/a")', "@font-face{src:url(https://example.org/a)}"])("fails: %s", (text) => {
    expect(addressesIn("assets/theme.x1.js", text)).toEqual(["https://example.org/a"]);
  });

  test("one without a scheme too, and a comment is none", () => {
    expect(addressesIn("assets/style.x1.css", "src:url(//example.org/a)")).toEqual(["example.org/a"]);
    expect(addressesIn("assets/app.x1.js", '"use strict"; // example.org')).toEqual([]);
  });

  test("those that nothing is loaded from are known", () => {
    expect(addressesIn("assets/app.x1.js", 'createNS("http://www.w3.org/2000/svg");new URL("http://a.com")')).toEqual(
      [],
    );
  });
});
