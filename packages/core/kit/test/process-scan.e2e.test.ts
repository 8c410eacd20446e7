// Fifty commands that end at once must not each look through all processes, and what got away from its group must still die.
import { type ChildProcess, spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { killTree, MARK, type MarkedProcess, ProcessScan } from "../src/process/process-tree.ts";

describe("a look through all processes", () => {
  function counted() {
    let looks = 0;
    const ends: (() => void)[] = [];
    const scan = new ProcessScan(() => {
      looks += 1;
      const seen: MarkedProcess[] = [{ pid: looks, group: looks, marks: ["x"] }];
      return new Promise((resolve) => ends.push(() => resolve(seen)));
    });
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    return { scan, looks: () => looks, settled, end: () => ends.shift()!() };
  }

  test("is one for all who ask before it begins, and another one for all who ask while it goes on", async () => {
    const { scan, looks, settled, end } = counted();
    const first = Array.from({ length: 50 }, () => scan.next());
    await settled();
    const later = Array.from({ length: 50 }, () => scan.next());
    await settled();
    expect(looks()).toBe(1);
    end();
    await settled();
    end();
    // Whoever asked while the first look went on is told of one that began afterwards.
    expect((await Promise.all(first)).every(([found]) => found!.pid === 1)).toBe(true);
    expect((await Promise.all(later)).every(([found]) => found!.pid === 2)).toBe(true);
    expect(looks()).toBe(2);
  });

  test("that fails is told to those who asked, and is no reason for the next one to fail", async () => {
    let isBroken = true;
    const scan = new ProcessScan(() => (isBroken ? Promise.reject(new Error("broken")) : Promise.resolve([])));
    await expect(scan.next()).rejects.toThrow("broken");
    isBroken = false;
    expect(await scan.next()).toEqual([]);
  });
});

test("fifty trees that left their groups are killed together", async (context) => {
  context.skip(process.platform !== "linux", "only Linux tells the environment of a process");
  const started = Array.from({ length: 50 }, (_, n) => {
    const mark = `scan-test-${process.pid}-${n}`;
    // A session of its own, twice, and the program itself is gone.
    const line = "setsid sh -c 'setsid sleep 1000 & sleep 1000' & echo ready";
    const child = spawn("/bin/sh", ["-c", line], { env: { PATH: process.env["PATH"], [MARK]: mark }, detached: true });
    return { child, mark };
  });
  await Promise.all(started.map(({ child }) => new Promise((resolve) => child.stdout.once("data", resolve))));
  // Its output is open as long as one of them lives.
  const closed = started.map(({ child }) => new Promise((resolve) => child.stdout.resume().once("close", resolve)));
  await Promise.all(started.map(({ child, mark }) => killTree((child as ChildProcess).pid, mark, "SIGKILL")));
  expect(await Promise.all(closed)).toHaveLength(50);
});
