// No PowerShell can be had where this is tested, so setup.ps1 is parsed, by the grammar that editors use, and the statements that
// put its arguments together are worked out here. A parser that accepts everything says nothing: broken scripts must be refused.
import { spawnSync } from "node:child_process";
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

interface Given {
  readonly Mode?: string;
  readonly With?: readonly string[];
  readonly Without?: readonly string[];
  readonly Prefix?: string;
  readonly DryRun?: boolean;
  readonly Json?: boolean;
  readonly Help?: boolean;
  readonly Rest?: readonly string[];
}

/** What setup.ps1 hands to setup.mjs. Throws for a statement that is not known here, so that none is passed over. */
function handedOn(given: Given): string[] {
  const values: Record<string, string | boolean | readonly string[]> = {
    Mode: "",
    With: [],
    Without: [],
    Prefix: "",
    DryRun: false,
    Json: false,
    Help: false,
    Rest: [],
    ...given,
  };
  const words: string[] = [];
  const statements = script.slice(script.indexOf("$arguments = @()") + 16, script.indexOf("$node = ")).trim();
  for (const statement of statements.split("\n")) {
    const [, condition, added] = /^(?:if \((.+)\) \{ )?\$arguments \+= (.+?)(?: \})?$/u.exec(statement) ?? [];
    if (added === undefined) throw new Error(`an unknown statement: ${statement}`);
    if (condition === undefined || isTrue(condition, values))
      words.push(...(added === "$Rest" ? (values["Rest"] as string[]) : wordsOf(added, values)));
  }
  return words;
}

function isTrue(condition: string, values: Record<string, unknown>): boolean {
  const [, name = "", test = ""] = /^\$(\w+)( -ne ''|\.Count -gt 0)?$/u.exec(condition) ?? [];
  if (!(name in values)) throw new Error(`an unknown condition: ${condition}`);
  const value = values[name];
  if (test.startsWith(".")) return (value as string[]).length > 0;
  return test === "" ? value === true : value !== "";
}

function wordsOf(expression: string, values: Record<string, unknown>): string[] {
  const [, list] = /^@\((.+)\)$/u.exec(expression) ?? [];
  return (list?.split(/, (?=[($])/u) ?? [expression]).map((part) => {
    const [, text] = /^'([^']*)'$/u.exec(part) ?? [];
    if (text !== undefined) return text;
    if (part === '"--$($Mode.ToLowerInvariant())"') return `--${String(values["Mode"]).toLowerCase()}`;
    const [, name = "", joined] = /^\(?\$(\w+)( -join ',')?\)?$/u.exec(part) ?? [];
    if (!(name in values)) throw new Error(`an unknown expression: ${part}`);
    return joined === undefined ? String(values[name]) : (values[name] as string[]).join(",");
  });
}

/** setup.bat hands on what it is given. */
const plan = (args: readonly string[]): { code: number | null; lines: string[] } => {
  const setup = join(root, "packages/tooling/bootstrap/setup.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [setup, ...args], { encoding: "utf8" });
  return { code: status, lines: `${stdout}${stderr}`.split("\n") };
};

describe("setup.ps1 and setup.bat", () => {
  const batch = readFileSync(join(root, "setup.bat"), "utf8").replaceAll("\r", "");

  test.each<[string, string[], Given]>([
    ["nothing", ["--dry-run"], { DryRun: true }],
    ["a mode", ["--standard", "--dry-run"], { Mode: "Standard", DryRun: true }],
    ["a mode in capitals", ["--full", "--dry-run"], { Mode: "FULL", DryRun: true }],
    [
      "features and a prefix",
      ["--full", "--with", "tool-files,tool-shell", "--without", "rag-pdf", "--prefix", "/opt/a b", "--dry-run"],
      { Mode: "Full", With: ["tool-files", "tool-shell"], Without: ["rag-pdf"], Prefix: "/opt/a b", DryRun: true },
    ],
    ["JSON", ["--home", "--dry-run", "--json"], { Mode: "Home", DryRun: true, Json: true }],
    ["help", ["--help"], { Help: true }],
    ["a mode that there is not", ["--ful"], { Mode: "Ful" }],
    ["flags of the other script", ["--minimal", "--dry-run"], { Rest: ["--minimal", "--dry-run"] }],
  ])("plan the same, line by line: %s", (_name, args, given) => {
    expect(batch).toContain('setup.mjs" %*\n');
    expect(plan(handedOn(given))).toEqual(plan(args));
  });

  test("say the same where there is no Node, and end with the same code", () => {
    const said = [...batch.matchAll(/^echo (.+) 1>&2$/gmu)].map(([, line]) => line);
    expect(said).toHaveLength(3);
    expect([...script.matchAll(/Error\.WriteLine\('(.+)'\)/gu)].map(([, line]) => line)).toEqual(said);
    expect([/exit \/b (\d+)\s*$/u.exec(batch)?.[1], />= (\d+) /u.exec(batch)?.[1]]).toEqual([
      /exit (\d+)\n\}/u.exec(script)?.[1],
      /-lt (\d+)/u.exec(script)?.[1],
    ]);
  });
});
