// A gate that a mode leaves out is work that nobody was asked about.
import { expect, test } from "vitest";
import { gateOf } from "../src/runs/definition.ts";
import type { ExecutionMode, Priority, SopStep } from "../src/library/types.ts";

const PRIORITIES: readonly Priority[] = ["low", "normal", "high", "critical"];
const step = (number: number, more: Partial<SopStep> = {}) => ({
  number,
  kind: "execute" as const,
  requiresConfirmation: false,
  ...more,
});

test.each<[ExecutionMode, readonly Priority[], readonly number[]]>([
  ["auto", PRIORITIES, []],
  ["deterministic", PRIORITIES, []],
  ["supervised", PRIORITIES, [1]],
  ["step_by_step", PRIORITIES, [1, 2, 3]],
  ["priority_based", ["low", "normal"], [1]],
  ["priority_based", ["high", "critical"], []],
])("%s of priority %j waits before the steps %j", (mode, priorities, gated) => {
  for (const priority of priorities) {
    const waits = [1, 2, 3].filter((number) => gateOf(mode, priority, step(number)) === "wait_approval");
    expect(waits).toEqual(gated);
  }
});

test.each<ExecutionMode>(["auto", "deterministic", "supervised", "step_by_step", "priority_based"])(
  "what a step demands is demanded in %s too",
  (mode) => {
    for (const priority of PRIORITIES) {
      expect(gateOf(mode, priority, step(2, { requiresConfirmation: true }))).toBe("wait_approval");
      expect(gateOf(mode, priority, step(2, { kind: "checkpoint" }))).toBe("wait_approval");
    }
  },
);
