// The page of reloads promises what happens to a turn that runs. Each row has a test of the whole binary that shows it, and none of
// those may go without the row, nor a row come without one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../../..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** By the first cell of a row: files of apps/svc/test, and titles in them. */
const SHOWN_BY: Readonly<Record<string, readonly (readonly [file: string, title: string])[]>> = {
  "`model.api_key`, another model": [
    [
      "rotation",
      "model.api_key: every call of the running turn has the old one, those after the reload too; the next turn's have the new",
    ],
    ["reload", "another model answers the next turn; the running one keeps its own"],
  ],
  "`[security.policy]`": [["reload", "an operator who locks down is obeyed by the next call of a turn that runs"]],
  "`[agents.<name>.policy]`": [
    [
      "rotation-agents",
      "the policy of one agent is that agent's: what another may, and what it has used up of its hour, stays",
    ],
  ],
  "`tools.disabled`": [
    [
      "rotation-agents",
      "a tool that is switched off: the turn's next call of it is refused, and the next turn is not offered it",
    ],
    ["reload", "a turn goes on with its command; a tool that was switched off is refused to the next one"],
  ],
  "`workspace.path`": [
    ["rotation-agents", "another workspace: the command ends in the old one, the next call works in the new"],
    ["reload", "another workspace holds for the next call"],
  ],
  "`[security.sandbox]`": [
    [
      "rotation-agents",
      "another sandbox: the command ends as it began, the next is refused where none is that is required",
    ],
  ],
  "a channel's token, its section": [
    [
      "rotation",
      "a channel's token: the delivery under way ends with the old one, those of turns that run have the new one",
    ],
    ["rotation", "a platform that is away does not keep a token from being rotated"],
  ],
  "`channels_config.webhook.secret`": [
    [
      "rotation",
      "the secret of /webhook: a request whose head has come is answered by the old one, the next needs the new",
    ],
    ["reload", "a rotated secret is in force for the next request, and the old one no more"],
  ],
  "the key of a tool, its section": [
    [
      "shared-state",
      "a call under way ends with the old key; the next has the new one, a new session and new counters",
    ],
  ],
  "a credential that is refused": [
    ["shared-state", "a key that the carrier refuses: the reload is refused, and everything goes on with the old one"],
    ["rotation", "a token that the platform refuses: the reload is refused, and messages go on with the old one"],
  ],
  "a section of something else": [
    ["shared-state", "nothing else is registered anew, and it is not when something else changes"],
  ],
};

/** First cells of the table below the heading. */
function rowsOf(page: string): string[] {
  const [, below = ""] = page.split("## What a reload does to what runs\n");
  const [, , ...rows] = below
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => line.startsWith("|"));
  return rows.map((row) => row.split("|")[1]!.trim());
}

test("each row of the page has its test, and each test its row", () => {
  expect(rowsOf(read("docs/guide/reload.md"))).toEqual(Object.keys(SHOWN_BY));
});

test.each(Object.values(SHOWN_BY).flat())("%s.test.ts has it: %s", (file, title) => {
  expect(read(`apps/svc/test/${file}.test.ts`)).toContain(`test("${title}"`);
});

test("a row that is added or taken away is missed", () => {
  const page = read("docs/guide/reload.md");
  expect(rowsOf(page.replace(/\n\| `workspace\.path`.*/, ""))).not.toContain("`workspace.path`");
  expect(rowsOf(page.replace("\n| a section", "\n| another row | a | b | c |\n| a section"))).toContain("another row");
});
