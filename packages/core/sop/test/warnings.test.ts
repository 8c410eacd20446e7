// What is allowed and will not do what its author thinks: a trigger that is never due, a tool that is not there.
import { formatProblems } from "@svc/config";
import { expect, test } from "vitest";
import { type Known, checkSop } from "../src/library/definition.ts";

const warned = async (toml: string, markdown = "", more: Partial<Known> = {}) => {
  const rules = { defaultMode: "supervised", reserved: [] } as const;
  const known = { nowMs: Date.UTC(2026, 0, 1), ...more };
  const { warnings, problems } = await checkSop({ folder: "/w/sops/deploy", toml, markdown }, rules, known);
  expect(problems).toEqual([]);
  return formatProblems(warnings).split("\n");
};
const manual = '[[triggers]]\ntype = "manual"\n';

test("what will not be as it looks is told", async () => {
  const toml = `[sop]
agent = "opps"
[[triggers]]
type = "cron"
expression = "0 0 30 2 *"
condition = "$.a == 1"
[[steps]]
title = "a"
tool = "shel"
args = { command = "$.a", text = "rm $.a" }
`;
  expect(await warned(toml, "", { agents: ["ops"], tools: ["shell"] })).toEqual([
    expect.stringMatching(/^SOP\.toml:2 {2}sop\.agent: names no agent .*did you mean "ops"/),
    "SOP.toml:5  triggers[0].expression: is never due",
    "SOP.toml:6  triggers[0].condition: is never met: a cron trigger has no payload",
    "SOP.toml:7  steps[0]: names a tool that this build does not have",
    "SOP.toml:9  steps[0].tool: counts only in deterministic mode; here a model does the step",
    "SOP.toml:10  steps[0].args.command: no part of the input enters a command; the step will fail",
  ]);
});

test("a tool in SOP.md that is not there is told at its step", async () => {
  const markdown = "## Steps\n1. a\n2. b\n   - tools: shell, nope\n";
  expect(await warned(`[sop]\n${manual}`, markdown, { tools: ["shell"] })).toEqual([
    "SOP.md:3:1  this step names a tool that this build does not have",
  ]);
  expect(await warned(`[sop]\n${manual}`, markdown)).toEqual([""]);
});
