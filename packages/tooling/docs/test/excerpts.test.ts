// Code on a page is copied by people, and nobody runs a page. What is shown is cut out of files that are compiled and used, line by line.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../../..");
const PAGES = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));

interface Excerpt {
  readonly file: string | undefined;
  readonly lines: readonly string[];
}

/** Blocks of TypeScript, with the file that the comment above each names. */
const excerptsOf = (text: string): Excerpt[] =>
  [...text.matchAll(/(?:<!-- from: (\S+) -->\n\n)?```ts\n([^]*?)\n```/g)].map(([, file, code = ""]) => ({
    file,
    lines: outdented(code.split("\n")),
  }));

const outdented = (lines: readonly string[]): string[] => {
  const indents = lines.filter((line) => line !== "").map((line) => line.length - line.trimStart().length);
  return lines.map((line) => line.slice(Math.min(...indents)));
};

/** Whether the file has these lines, one below the other, indented by whatever. */
function has(file: string, lines: readonly string[]): boolean {
  const all = readFileSync(join(ROOT, file), "utf8").split("\n");
  return all.some((_, at) => outdented(all.slice(at, at + lines.length)).join("\n") === lines.join("\n"));
}

const found = PAGES.flatMap((page) =>
  excerptsOf(readFileSync(join(ROOT, "docs", page), "utf8")).map((one) => ({ page, ...one })),
);

test("the rules for state are shown by what is run", () => {
  expect(found.filter(({ page }) => page === "shared-state.md").length).toBeGreaterThanOrEqual(5);
});

describe("code on a page says where it is from, and stands there", () => {
  test.each(found.map(({ page, file, lines }) => [page, file, lines] as const))("%s: %s", (_, file, lines) => {
    expect(file).toMatch(/^apps\/svc\/test\/|^packages\//);
    expect(existsSync(join(ROOT, file!))).toBe(true);
    expect(has(file!, lines)).toBe(true);
  });
});

test("what was changed on the page, or in the file, is found", () => {
  const file = "apps/svc/test/tool-parcels/src/door-code.ts";
  expect(has(file, ["signal.throwIfAborted();", 'await secretsOf(clientId).set("door-code", code);'])).toBe(true);
  expect(has(file, ["signal.throwIfAborted();", 'return "remembered";'])).toBe(false);
  expect(excerptsOf("```ts\n  a();\n\n    b();\n```\n")).toEqual([{ file: undefined, lines: ["a();", "", "  b();"] }]);
});
