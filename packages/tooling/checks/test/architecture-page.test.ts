// The drawing and the walls are the same thing: a table that says otherwise misleads whoever reads it first.
import { describe, expect, test } from "vitest";
import { architecturePage } from "../src/checks/architecture-page.ts";
import { LAYERS } from "../src/layers.ts";
import { judge } from "./judge.ts";

const fixture = Object.fromEntries(
  LAYERS.filter(({ name }) => name !== "sop").map(({ folder }) => [`${folder.replace("*", "x")}/package.json`, "{}"]),
);
const rows = LAYERS.map(
  ({ name, folder, imports }) =>
    `| \`${name}\` | \`${folder}\` | ${imports.map((one) => `\`${one}\``).join(", ") || "–"} | ${name === "sop" ? "planned" : "here"} |`,
);
const page = (lines: readonly string[]): Record<string, string> => ({
  ...fixture,
  "docs/architecture.md": [
    "<!-- layers -->",
    "",
    "| layer | folder | may import | state |",
    "| --- | --- | --- | --- |",
    ...lines,
    "",
    "<!-- /layers -->",
  ].join("\n"),
});

describe("the layers table", () => {
  test("passes when it says what the rules say", () => {
    expect(judge(architecturePage, page(rows))).toEqual([]);
  });

  test("fails when a layer may import more there than in the rules", () => {
    const lying = rows.map((row) => row.replace("| `contract` | here", "| `contract`, `agent` | here"));
    expect(judge(architecturePage, page(lying))).toEqual([
      "docs/architecture.md:6 api may import contract; the table differs.",
      "docs/architecture.md:7 kit may import contract; the table differs.",
      "docs/architecture.md:10 store may import contract; the table differs.",
    ]);
  });

  test("fails for a missing row, an unknown layer and a wrong folder", () => {
    const other = rows.slice(1).concat("| `attic` | `packages/attic` | – | here |");
    expect(judge(architecturePage, page(other))).toEqual([
      "docs/architecture.md:19 The table has a layer attic that the check does not know.",
      "docs/architecture.md:0 The table has no row for contract.",
    ]);
    const moved = rows.map((row) => row.replace("packages/core/kit", "packages/kit"));
    expect(judge(architecturePage, page(moved))).toEqual(["docs/architecture.md:7 kit is in packages/core/kit."]);
  });

  test("fails when what is planned exists, and when what is drawn as there does not", () => {
    const early = rows.map((row) => row.replace("planned", "here"));
    expect(judge(architecturePage, page(early))).toEqual(["docs/architecture.md:13 sop does not exist yet."]);
    expect(judge(architecturePage, { ...page(rows), "packages/core/sop/package.json": "{}" })).toEqual([
      "docs/architecture.md:13 sop exists; the table says planned.",
    ]);
  });

  test("fails without the page or the table", () => {
    expect(judge(architecturePage, {})).toEqual(["docs/architecture.md:0 The page is missing."]);
    expect(judge(architecturePage, { "docs/architecture.md": "# Hi" })).toHaveLength(1);
  });
});
