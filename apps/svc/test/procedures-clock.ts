/** A wall clock for the daemon that can be set while it runs; what it measures durations by goes on as ever. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "@svc/testkit/require-real";

export interface WallClock {
  /** For the daemon. */
  readonly env: Readonly<Record<string, string>>;
  /** ISO 8601. */
  set(utc: string): void;
}

/** Undefined where there can be such a clock. */
export const missingWallClock = (): MissingPart | undefined =>
  libfaketime() === undefined
    ? { name: "faketime", reason: "faketime is not on PATH; apt-get install faketime" }
    : undefined;

/** `folder`: for the file that it is set by. */
export function wallClock(folder: string): WallClock {
  const file = join(folder, "clock-offset");
  return {
    env: {
      LD_PRELOAD: libfaketime()!,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    set(utc: string): void {
      const ahead = Math.round((Date.parse(utc) - Date.now()) / 1000);
      writeFileSync(file, `${ahead < 0 ? "-" : "+"}${Math.abs(ahead)}`);
    },
  };
}

function libfaketime(): string | undefined {
  const { stdout, status } = spawnSync("faketime", ["-m", "now", "printenv", "LD_PRELOAD"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
