// What turbo says of a task becomes one test, or as many as it counted; nothing that went wrong is left out.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { afterEach, expect, test } from "vitest";
import { root } from "../checkout.mjs";
import { judge, machine } from "../tasks.mjs";
import { reportPath } from "../vitest-reporter.mjs";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

const ended = (exitCode: number | null) => ({ startTime: 1_000, endTime: 3_500, exitCode });
const lint = { taskId: "//#lint", task: "lint", command: "oxlint", directory: "", cache: { status: "MISS" } };

/** A package whose task left `report`. */
function unit(report?: object) {
  const folder = mkdtempSync(join(tmpdir(), "svc-tasks-"));
  made.push(folder);
  mkdirSync(join(folder, ".reports"));
  if (report) writeFileSync(reportPath(folder, "unit"), JSON.stringify(report));
  const directory = relative(root, folder);
  return { taskId: "@svc/kit#unit", task: "unit", command: "vitest", directory, cache: { status: "HIT" } };
}

test("a task that runs no tests is one", () => {
  expect(judge({ ...lint, execution: ended(0) }, ["fine"])).toMatchObject({
    name: "lint",
    seconds: 2.5,
    isCached: false,
    tally: { passed: 1, failed: 0, skipped: 0 },
    output: "",
  });
});

test("one that fails shows what it printed", () => {
  expect(judge({ ...lint, execution: ended(1) }, ["x is", "wrong"])).toMatchObject({
    tally: { passed: 0, failed: 1, skipped: 0 },
    failures: [{ name: "lint", why: "ended with exit code 1" }],
    output: "x is\nwrong",
  });
});

test("one that was ended by a signal, or never ran, failed", () => {
  expect(judge({ ...lint, execution: ended(null) }, []).tally.failed).toBe(1);
  expect(judge(lint, [])).toMatchObject({ failures: [{ why: "not run: what it needs failed" }] });
});

test("tests are counted by what they left, also when they ran before", () => {
  const report = {
    passed: 7,
    failed: [],
    skipped: [{ name: "a", reason: "no bwrap" }],
    slowest: [{ file: "x", seconds: 30 }],
  };
  expect(judge({ ...unit(report), execution: ended(0) }, [])).toMatchObject({
    name: "kit: unit",
    isCached: true,
    tally: { passed: 7, failed: 0, skipped: 1 },
    skips: [{ reason: "no bwrap" }],
    slowest: [{ seconds: 30 }],
  });
});

test("tests that left nothing, or left no failure and an exit code, failed", () => {
  expect(judge({ ...unit(), execution: ended(0) }, []).tally.failed).toBeGreaterThan(0);
  const report = { passed: 7, failed: [], skipped: [], slowest: [] };
  expect(judge({ ...unit(report), execution: ended(1) }, []).tally).toEqual({ passed: 7, failed: 1, skipped: 0 });
});

test("a program that is installed makes the tests run again, and this checkout's own first install does not", () => {
  const programs = mkdtempSync(join(tmpdir(), "svc-tasks-"));
  made.push(programs);
  const before = machine(programs);
  expect(machine([join(root, "node_modules", ".bin"), programs].join(delimiter))).toBe(before);
  utimesSync(programs, 1, 1);
  expect(machine(programs)).not.toBe(before);
});
