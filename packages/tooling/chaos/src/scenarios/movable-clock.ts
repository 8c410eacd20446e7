/** A wall clock for the daemon that can be set while it runs; what it measures durations by goes on as ever. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";

export interface MovableClock extends Disposable {
  /** For the daemon. */
  readonly env: Readonly<Record<string, string>>;
  /** From here on it is so many seconds ahead of the real one, or behind it. */
  set(aheadSecs: number): void;
}

/** Undefined where libfaketime is not installed. */
export function movableClock(): MovableClock | undefined {
  const { stdout, status } = spawnSync("faketime", ["-m", "now", "printenv", "LD_PRELOAD"], { encoding: "utf8" });
  if (status !== 0) return undefined;
  const folder = temporaryHome();
  const file = join(folder.path, "offset");
  const set = (aheadSecs: number): void => writeFileSync(file, `${aheadSecs < 0 ? "-" : "+"}${Math.abs(aheadSecs)}`);
  set(0);
  return {
    env: {
      LD_PRELOAD: stdout.trim(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    set,
    [Symbol.dispose]: () => folder.remove(),
  };
}

export const NO_MOVABLE_CLOCK: MissingPart = {
  name: "faketime",
  reason: "faketime is not on PATH; apt-get install faketime",
};
