// Tables of bench/README.md: a run writes each of them, and each names its commit, its date and its machine.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BENCHES } from "../src/benches.ts";
import { FIGURES, readBaseline } from "../src/guard/figures.ts";
import { provenance } from "../src/provenance.ts";
import { handWrittenRows, withTable } from "../src/readme.ts";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

describe("bench/README.md", () => {
  it("has no row of a table that a run doesn't write", () => {
    expect(handWrittenRows(README)).toEqual([]);
  });

  it.each([...BENCHES.keys(), "guard"])("has one place for the tables of %s", (name) => {
    expect(withTable(README, name, "| new |")).toContain(
      `<!-- bench:${name} -->\n\n| new |\n\n<!-- /bench:${name} -->`,
    );
  });

  it("names commit, date and machine of each table", () => {
    const blocks = [...README.matchAll(/<!-- bench:([a-z-]+) -->(.*?)<!-- \/bench:\1 -->/gs)];
    const measured = blocks.filter(([, , block]) => block!.includes("|"));
    const origin = /^\s*Commit [0-9a-f]{8}( with changes)?, \d{4}-\d\d-\d\d; \d+ × .+, \d+ GiB, .+, Node /;
    expect(measured.filter(([, , block]) => !origin.test(block!)).map(([, name]) => name)).toEqual([]);
  });
});

describe("withTable", () => {
  it("replaces what stands between the marks and nothing else", () => {
    const text = "a\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nb\n";
    expect(withTable(text, "x", "new")).toBe("a\n<!-- bench:x -->\n\nnew\n\n<!-- /bench:x -->\nb\n");
  });

  it.each([
    "",
    "<!-- bench:x -->",
    "<!-- /bench:x --> <!-- bench:x -->",
    "<!-- bench:x --> <!-- bench:x --> <!-- /bench:x -->",
  ])("refuses a text without exactly one place: %j", (text) => {
    expect(() => withTable(text, "x", "new")).toThrow("needs one place");
  });
});

describe("handWrittenRows", () => {
  it("finds rows outside of all marks", () => {
    const inside = "<!-- bench:x -->\n| in |\n<!-- /bench:x -->";
    expect(handWrittenRows(`| out |\n${inside}\n| after |`)).toEqual(["| out |", "| after |"]);
  });
});

describe("provenance", () => {
  it("says what was measured, when and on what", () => {
    const build = { commit: "0123456789".repeat(4), isDirty: true, binary: "svc" };
    expect(provenance(build, new Date("2026-01-02T03:04:05Z"))).toMatch(
      /^Commit 01234567 with changes, 2026-01-02; \d+ × .+ GiB, .+, Node \d+\.\d+\.\d+\.$/,
    );
  });
});

describe("readBaseline", () => {
  it("names two commits for each figure", () => {
    expect([...readBaseline().keys()]).toEqual(FIGURES.map(({ id }) => id));
  });

  it.each(["{}", '{"turn-1":{"reference":"23df3261","best":"54b89995"}}', '{"speed":{}}'])("refuses %s", (text) => {
    expect(() => readBaseline(text)).toThrow("bench/baseline.json");
  });
});
