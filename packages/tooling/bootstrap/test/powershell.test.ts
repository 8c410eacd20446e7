// No PowerShell can be had where this is tested, so setup.ps1 is only parsed, by the grammar that editors use. That says
// nothing if the parser accepts everything: broken scripts must be refused.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Language, Parser } from "web-tree-sitter";
import { root } from "../checkout.mjs";

const script = readFileSync(join(root, "setup.ps1"), "utf8");
let parser: Parser;

beforeAll(async () => {
  await Parser.init();
  const wasm = createRequire(import.meta.url).resolve("tree-sitter-powershell/tree-sitter-powershell.wasm");
  parser = new Parser().setLanguage(await Language.load(wasm));
});

const hasError = (text: string): boolean => {
  const tree = parser.parse(text);
  if (tree === null) throw new Error("the parser gave up");
  return tree.rootNode.hasError;
};

describe("setup.ps1", () => {
  test("parses", () => {
    expect(hasError(script)).toBe(false);
  });

  test.each([
    ["a missing brace", (text: string) => text.replace("exit 69\n}", "exit 69\n")],
    ["an open string", (text: string) => text.replace("'--dry-run'", "'--dry-run")],
    ["an open bracket", (text: string) => text.replace("[switch]$Help,", "[switch$Help,")],
    ["an if of another shell", (text: string) => `${text}\nif [ -z "$x" ]; then echo; fi\n`],
  ])("%s is noticed", (_name, breakIt) => {
    const broken = breakIt(script);
    expect(broken).not.toBe(script);
    expect(hasError(broken)).toBe(true);
  });

  test("has every parameter that the help promises", () => {
    for (const name of ["Mode", "With", "Without", "Prefix", "DryRun", "Json", "Help"]) {
      expect(script).toMatch(new RegExp(`\\[[a-z[\\]]+\\]\\$${name}\\b`, "u"));
    }
  });

  test("hands on flags that setup.mjs knows", () => {
    for (const flag of script.match(/'--[a-z-]+'/gu) ?? []) {
      expect(["'--with'", "'--without'", "'--prefix'", "'--dry-run'", "'--json'", "'--help'"]).toContain(flag);
    }
  });
});
