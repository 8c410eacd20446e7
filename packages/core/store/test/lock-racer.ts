/** A worker of home-lock.test.ts: takes the lock in the same instant as the others, round after round. */
import { workerData } from "node:worker_threads";
import { SvcError } from "@svc/contract";
import { lockHome } from "../src/engine/home-lock.ts";

export interface Race {
  readonly file: string;
  readonly racers: number;
  readonly rounds: number;
  /** Who has come to the line, over all rounds; then who won each round; then whether anything else went wrong. */
  readonly counts: Int32Array;
}

const { file, racers, rounds, counts } = workerData as Race;

function meet(): void {
  const come = Atomics.add(counts, 0, 1) + 1;
  const all = Math.ceil(come / racers) * racers;
  if (come === all) Atomics.notify(counts, 0);
  for (let seen = come; seen < all; seen = Atomics.load(counts, 0)) Atomics.wait(counts, 0, seen, 50);
}

for (let round = 0; round < rounds; round += 1) {
  meet();
  let unlock = (): void => {};
  try {
    unlock = lockHome(file);
    Atomics.add(counts, 1 + round, 1);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "ALREADY_RUNNING") Atomics.add(counts, 1 + rounds, 1);
  }
  meet();
  unlock();
}
