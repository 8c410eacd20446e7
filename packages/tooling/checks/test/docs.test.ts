// Links that lead nowhere and commands that do not exist are the first thing a newcomer meets.
import { describe, expect, test } from "vitest";
import { docCommands } from "../src/checks/doc-commands.ts";
import { docLinks } from "../src/checks/doc-links.ts";
import { judge } from "./judge.ts";

describe("doc-links", () => {
  const files = {
    "docs/other.md": "# Other page\n\n## A `code` heading!\n\n```\n# not a heading\n```\n",
    "docs/picture.png": "",
  };
  const found = (text: string): string[] => judge(docLinks, { ...files, "docs/a.md": text });

  test.each([
    '[x](other.md) [y](./other.md#a-code-heading) [z](../docs/) ![p](picture.png "title")',
    "[x](https://example.org/nowhere.md) [m](mailto:a@example.org) `[code](nowhere.md)`",
    "# Here\n[x](#here)\n```\n[x](nowhere.md)\n```",
    "[x]: other.md",
  ])("passes: %s", (text) => {
    expect(found(text)).toEqual([]);
  });

  test.each([
    ["[x](nowhere.md)", "The link to nowhere.md is broken: there is no such file."],
    ["[x](../nowhere/)", "The link to ../nowhere/ is broken: there is no such file."],
    ["[x](other.md#lost)", "The link to other.md#lost is broken: there is no such heading."],
    ["[x](other.md#not-a-heading)", "The link to other.md#not-a-heading is broken: there is no such heading."],
    ["[x]: nowhere.md", "The link to nowhere.md is broken: there is no such file."],
  ])("fails: %s", (text, message) => {
    expect(found(`\n${text}`)).toEqual([`docs/a.md:2 ${message}`]);
  });
});

describe("doc-commands", () => {
  const found = (command: string): string[] =>
    judge(docCommands, {
      "package.json": '{ "scripts": { "start": "x", "build": "x" } }',
      "setup.sh": "",
      "apps/svc/src/command-table.ts":
        'const COMMANDS = [{ usage: "status" }, { usage: "tools <action> [name]", actions: ["list", "run"] }];',
      "README.md": `# x\n\n\`\`\`sh\n${command}\n\`\`\`\n`,
    });

  test.each([
    "npm start",
    "npm ci && npm run build -- minimal",
    "pnpm build minimal --with a",
    "$ svc status --json | jq .",
    "SVC_HOME=/tmp/x ./dist/minimal/svc tools list # comment; npm run nothing",
    "svc --version",
    "sh setup.sh --minimal",
    "curl -s http://127.0.0.1:42617/health",
  ])("passes: %s", (command) => {
    expect(found(command)).toEqual([]);
  });

  test("in the running text too, where it is a command", () => {
    const text = "Run `npm run nothing`, then `svc tools lits`; `svc.tools` and `npm` are no commands.";
    const files = { "package.json": "{}", "docs/a.md": text };
    expect(judge(docCommands, files)).toEqual(['docs/a.md:1 There is no npm script "nothing".']);
  });

  test.each([
    ["npm run nothing", 'There is no npm script "nothing".'],
    ["npm test", 'There is no npm script "test".'],
    ["pnpm nothing", 'There is no npm script "nothing".'],
    ["npm start && npm strat", 'npm has no command "strat".'],
    ["svc stauts", 'svc has no command "stauts".'],
    ["SVC_HOME=/tmp/x ./dist/minimal/svc nothing", 'svc has no command "nothing".'],
    ["svc tools lits", 'svc tools does not know "lits".'],
    ["sh nowhere.sh", "There is no file nowhere.sh."],
  ])("fails: %s", (command, message) => {
    expect(found(command)).toEqual([`README.md:4 ${message}`]);
  });
});
