// Two starts in one instant: each was told that the other is running, and neither was.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { Race } from "./lock-racer.ts";

test("of several that take the lock in one instant, one has it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-lock-"));
  const rounds = 100;
  const counts = new Int32Array(new SharedArrayBuffer(4 * (rounds + 2)));
  const race: Race = { file: join(folder, "run/lock"), racers: 4, rounds, counts };
  const racer = new URL("lock-racer.ts", import.meta.url);
  const workers = Array.from({ length: race.racers }, () => new Worker(racer, { workerData: race }));
  await Promise.all(
    workers.map((worker) => new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject))),
  );
  rmSync(folder, { recursive: true, force: true });
  expect([...counts.subarray(1)]).toEqual([...Array.from({ length: rounds }, () => 1), 0]);
});
