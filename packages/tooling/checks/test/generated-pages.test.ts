// A reference that nobody compares with the code is wrong after the next change, and trusted all the same.
import { describe, expect, test } from "vitest";
import { generatedPages } from "../src/checks/generated-pages.ts";
import { runChecks } from "../src/run.ts";
import { inMemory } from "../src/workspace.ts";
import { judge } from "./judge.ts";

const page = { path: "docs/a.md", render: () => "# A\n\nOne.\n" };
const check = generatedPages(() => [page]);

describe("generated-pages", () => {
  test("passes what the generator made", () => {
    expect(judge(check, { "docs/a.md": page.render() })).toEqual([]);
  });

  test.each([
    ["a missing page", {}, "docs/a.md:0 The page is missing."],
    ["a changed line", { "docs/a.md": "# A\n\nTwo.\n" }, "docs/a.md:3 The page is out of date."],
    ["a line more", { "docs/a.md": "# A\n\nOne.\nMore.\n" }, "docs/a.md:4 The page is out of date."],
    ["a line less", { "docs/a.md": "# A\n\nOne." }, "docs/a.md:4 The page is out of date."],
  ])("fails %s", (_what, files: Record<string, string>, message) => {
    expect(judge(check, files)).toEqual([message]);
  });

  test("a page may be made of the other files", () => {
    const list = { path: "docs/list.md", render: (files: ReadonlyMap<string, string>) => [...files.keys()].join() };
    expect(
      judge(
        generatedPages(() => [list]),
        { "docs/list.md": "docs/list.md" },
      ),
    ).toEqual([]);
    expect(
      judge(
        generatedPages(() => [list]),
        { "docs/list.md": "docs/list.md", x: "" },
      ),
    ).toHaveLength(1);
  });

  test("code that can't be read is a failure, not a page that needs no check", () => {
    const unreadable = generatedPages(() => {
      throw new Error("a feature does not parse");
    });
    expect(runChecks(inMemory({}), [unreadable])).toMatchObject([{ ok: false }]);
  });
});
