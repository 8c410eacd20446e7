// `__tool__` keeps what every tool keeps, and counts as a person would.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { expect, test } from "vitest";
import { tool } from "../src/__name__.ts";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });

toolConformance(tool, {
  input: { path: "notes.txt" },
  badInputs: [{}, { path: "" }, { path: "notes.txt", more: 1 }],
  files: { "notes.txt": "two words\n" },
});

test.each([
  ["", { lines: 0, words: 0, bytes: 0 }],
  ["one", { lines: 1, words: 1, bytes: 3 }],
  ["one two\nthree\n", { lines: 2, words: 3, bytes: 14 }],
  ["grüß dich\n\n", { lines: 2, words: 2, bytes: 13 }],
])("counts %j", async (text, expected) => {
  const context = fakeToolContext({ files: { "a.txt": text } });
  expect(await tool.run({ path: "a.txt" }, context)).toEqual({ ...expected, truncated: false });
});
