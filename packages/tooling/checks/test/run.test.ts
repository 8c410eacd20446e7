// The command's answer: what fails, what it prints, and that a check which can't run has not passed.
import { expect, test } from "vitest";
import type { Check } from "../src/check.ts";
import { layers } from "../src/checks/layers.ts";
import { readArguments } from "../src/command-line.ts";
import { renderJson, renderText } from "../src/report.ts";
import { allChecks, runChecks } from "../src/run.ts";
import { inMemory } from "../src/workspace.ts";

const check = (id: string, find: Check["find"]): Check => ({ id, rule: "A rule.", find });
const empty = inMemory({});

test("problems fail, warnings do not, and both are told with place and remedy", () => {
  const outcomes = runChecks(empty, [
    check("bad", () => [{ file: "a.ts", line: 3, message: "Wrong.", fix: "Mend it." }]),
    check("long", () => [{ file: "b.ts", message: "Long.", fix: "Cut it.", warning: true }]),
  ]);
  expect(outcomes.map(({ ok }) => ok)).toEqual([false, true]);
  expect(renderText(outcomes)).toBe(
    [
      "FAILED  bad",
      "  a.ts:3: Wrong.",
      "    Mend it.",
      "ok      long (1 warning)",
      "  b.ts: warning: Long.",
      "    Cut it.",
      "",
      "1 of 2 checks failed, 1 problem",
      "",
    ].join("\n"),
  );
  expect(JSON.parse(renderJson(outcomes))).toMatchObject({
    ok: false,
    checks: [{ id: "bad" }, { id: "long", ok: true }],
  });
});

test("a file that does not parse fails the check that reads it", () => {
  const [outcome] = runChecks(inMemory({ "packages/core/kit/src/a.ts": "const = ;" }), [layers]);
  expect(outcome?.ok).toBe(false);
  expect(outcome?.problems[0]?.message).toContain("packages/core/kit/src/a.ts does not parse");
});

test("templates of new packages are text, not code", () => {
  const files = { "packages/tooling/create/templates/tool/src/index.ts": "const __name__ = ;" };
  expect(inMemory(files).sources()).toEqual([]);
});

test("every check has an id of its own", () => {
  const ids = allChecks(() => []).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("arguments: lists of checks, and what was probably meant", () => {
  expect(readArguments(["--only", "a,b", "--only=c", "--json"], ["a", "b", "c"])).toEqual({
    json: true,
    write: false,
    help: false,
    only: ["a", "b", "c"],
  });
  expect(() => readArguments(["--wirte"], [])).toThrow("There is no option --wirte. Did you mean --write?");
  expect(() => readArguments(["--only", "layer"], ["layers", "random"])).toThrow(
    "There is no check layer. Did you mean layers?",
  );
  expect(() => readArguments(["layers"], ["layers"])).toThrow("Unexpected argument");
});
