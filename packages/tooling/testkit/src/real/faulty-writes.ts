/** Writes of a program that fail, or before which it is killed: at exactly the call that a test names, on whatever disk. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MissingPart } from "../require-real.ts";

export const NO_FAULTY_WRITES: MissingPart = {
  name: "gcc",
  reason: "gcc is not on PATH, or this is not Linux; apt-get install gcc libc6-dev",
};

/** Of errno(3). */
export const ERRNO = { EIO: 5, ENOSPC: 28, EROFS: 30 } as const;

export interface FaultyWrites extends Disposable {
  /** For a program whose writes below `root` count. It is killed before the `at`th of them; 0 or none: never. */
  env(root: string, at?: number): Readonly<Record<string, string>>;
  /** How many there were below `root`. */
  calls(root: string): number;
  /** How many of them waited until the disk had what was written. */
  syncs(root: string): number;
  /** From here on each of them fails so; 0: none does. */
  fail(errno: number): void;
}

/** Undefined where there is no compiler. */
export function faultyWrites(): FaultyWrites | undefined {
  if (process.platform !== "linux") return undefined;
  const folder = mkdtempSync(join(tmpdir(), "svc-faulty-"));
  const library = join(folder, "faulty.so");
  const failure = join(folder, "errno");
  const source = fileURLToPath(new URL("faulty-writes.c", import.meta.url));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (spawnSync("gcc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]).status !== 0) {
    remove();
    return undefined;
  }
  const countFile = (root: string): string => join(folder, `count-${root.replaceAll("/", "_")}`);
  return {
    env(root, at = 0) {
      return {
        LD_PRELOAD: library,
        FAULT_ROOT: root,
        FAULT_COUNT_FILE: countFile(root),
        FAULT_ERRNO_FILE: failure,
        ...(at > 0 && { FAULT_AT: String(at) }),
      };
    },
    calls: (root) => statSync(countFile(root), { throwIfNoEntry: false })?.size ?? 0,
    syncs: (root) => readFileSync(countFile(root), "latin1").split("s").length - 1,
    fail: (errno) => writeFileSync(failure, String(errno)),
    [Symbol.dispose]: remove,
  };
}
