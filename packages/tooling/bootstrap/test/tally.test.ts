// A runner that crashed used to end as "0 failed". Whatever produced no result must count as a failure.
import { describe, expect, test } from "vitest";
import { readFailures, readReport, readTally, sum, tallyLine } from "../tally.mjs";

const report = (passed: number, failed: number) =>
  JSON.stringify({ passed, failed: Array.from({ length: failed }, () => ({ name: "x", why: "y" })), skipped: [] });

describe("a test runner's report", () => {
  test("is taken as it is when it agrees with the exit code", () => {
    expect(readReport(report(3, 0), 0)).toEqual({ passed: 3, failed: [], skipped: [] });
    expect(readReport(report(3, 1), 1).failed).toHaveLength(1);
  });

  test.each([
    ["no report at all", undefined, 0],
    ["a torn report", '{"passed":', 0],
    ["no test ran", report(0, 0), 0],
    ["all passed, but the runner died", report(3, 0), 139],
  ])("%s: failed", (_name, json, code) => {
    expect(readReport(json, code).failed).not.toEqual([]);
  });
});

describe("the closing line", () => {
  test("is read back, also when the package manager prints after it", () => {
    expect(readTally("a\n12 passed, 0 failed, 3 skipped\n", 0)).toEqual({ passed: 12, failed: 0, skipped: 3 });
    expect(readTally("1 passed, 2 failed, 0 skipped\nnpm error code 1\n", 1)).toEqual({
      passed: 1,
      failed: 2,
      skipped: 0,
    });
  });

  test("missing, or contradicted by the exit code: failed", () => {
    expect(readTally("Segmentation fault\n", 139)).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(readTally("", 0).failed).toBe(1);
    expect(readTally("5 passed, 0 failed, 0 skipped\n", 1).failed).toBe(1);
  });

  test("the failures above it are read back, the last list alone", () => {
    const output = "Failed:\n  old\n\nFailed:\n  a.test.ts > works\n    why\nProperty tests: all cases\n\n1 passed";
    expect(readFailures(output)).toBe("  a.test.ts > works\n    why");
    expect(readFailures("Failed:\n  at the end")).toBe("  at the end");
    expect(readFailures("5 passed, 0 failed, 0 skipped\n")).toBe("");
  });

  test("adds up", () => {
    const total = sum([
      { passed: 1, failed: 2, skipped: 3 },
      { passed: 10, failed: 20, skipped: 30 },
    ]);
    expect(tallyLine(total)).toBe("11 passed, 22 failed, 33 skipped");
  });
});
