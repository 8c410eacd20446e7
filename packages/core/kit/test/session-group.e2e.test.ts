// Groups of root's sessions on a real kernel: what they hold, what they tell, and that nothing is left of them.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findGroupMaker } from "../src/process/index.ts";

/** Runs a line of the shell in the group. */
const inGroup = (joins: readonly string[], line: string): number | null =>
  spawnSync("/bin/sh", ["-c", `${joins.map((file) => `echo 0 >${file}`).join(" && ")} && ${line}`]).status;

test("it holds, tells once, goes, and takes along what a killed daemon left", async (context) => {
  const maker = await findGroupMaker();
  if (!maker) return context.skip("no control groups can be made here: not root, or a container");
  expect([...maker.limits].toSorted()).toEqual(["memoryMb", "pids"]);
  const group = await maker.make({ pids: 4 }, 0);
  expect(inGroup(group.joins, "true")).toBe(0);
  expect(await group.reached()).toBeUndefined();
  expect(inGroup(group.joins, "(sleep 0 & sleep 0 & sleep 0 & sleep 0 & sleep 0 & sleep 0 & sleep 0 & wait)")).not.toBe(
    0,
  );
  expect(await group.reached()).toBe("pids");
  expect(await group.reached()).toBeUndefined();
  const folder = dirname(group.joins[0]!);
  await group.close();
  expect(existsSync(folder)).toBe(false);

  // No process has this number: it is beyond the largest that Linux gives.
  const left = join(dirname(folder), "svc-sandbox-4194305-left");
  mkdirSync(left);
  await findGroupMaker();
  expect(existsSync(left)).toBe(false);
});

// As in a container with an empty file system there: files would be made that limit nothing.
test("a folder that is none of the kernel's makes no groups", async () => {
  const root = mkdtempSync(join(tmpdir(), "svc-groups-"));
  try {
    expect(await findGroupMaker(root)).toBeUndefined();
  } finally {
    rmSync(root, { recursive: true });
  }
});
