// Every group of conformance cases is run by some test, or named here with the issue that brings what it is about: a
// group that nobody runs would be a rule that nobody keeps.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { vectorCases, vectorGroup, vectorGroups } from "../src/vectors.ts";

/** Group (or its first word) → title of the issue that brings it. Remove the line when a test runs the group. */
const LATER: Readonly<Record<string, string>> = {};

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** Whether a test of the checkout, other than this one, has the group's id as a string. */
const tests = globSync(["packages/*/*/test/**/*.ts", "apps/*/test/**/*.ts"], { cwd: ROOT })
  .filter((file) => !import.meta.filename.endsWith(file))
  .map((file) => readFileSync(`${ROOT}/${file}`, "utf8"));
const isRun = (id: string): boolean => tests.some((text) => text.includes(JSON.stringify(id)));

const isLater = (id: string): boolean => id in LATER || (id.split(".")[0] ?? "") in LATER;

describe("the vectors", () => {
  const ids = vectorGroups().map(({ id }) => id);

  test("are all there", () => {
    expect(ids).toHaveLength(42);
    expect(new Set(ids).size).toBe(42);
  });

  test("every group is run, or comes later with a reason", () => {
    expect(ids.filter((id) => !isRun(id) && !isLater(id))).toEqual([]);
  });

  test("no group is said to come later that is run already, or doesn't exist", () => {
    const stale = Object.keys(LATER).filter((later) => {
      const meant = ids.filter((id) => id === later || id.startsWith(`${later}.`));
      return meant.every(isRun);
    });
    expect(stale).toEqual([]);
  });

  test("what we answer differently replaces what is expected", () => {
    const slash = vectorCases("session_id").find(({ name }) => name === "slash");
    expect(slash?.expected).toEqual({ status: 400 });
    expect(vectorGroup("pairing.lockout").config).toMatchObject({ max_attempts: 5 });
  });

  test("a group that doesn't exist is an error, not an empty list of tests", () => {
    const id = ["no", "such"].join(".");
    expect(() => vectorCases(id)).toThrow(`there is no vector group ${id}`);
  });
});
