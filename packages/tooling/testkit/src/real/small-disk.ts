/** A disk that is full after some megabytes. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "../require-real.ts";
import { temporaryHome } from "../temporary-home.ts";

export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Takes all the room that is left, but for so many bytes. */
  fill(but?: number): void;
  /** Gives back what `fill` took. */
  empty(): void;
}

export const NO_SMALL_DISK: MissingPart = {
  name: "a small disk",
  reason: "mounting a tmpfs needs Linux, and root",
  tier: "B",
};

/** `folder`: what is in it is not seen meanwhile; default: a folder of its own. Undefined where it can't be mounted. */
export function mountSmallDisk(megabytes: number, folder?: string): SmallDisk | undefined {
  const own = folder === undefined ? temporaryHome() : undefined;
  const path = folder ?? own!.path;
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0700`, "tmpfs", path]);
  if (status !== 0) {
    own?.remove();
    return undefined;
  }
  const unmount = (): void => {
    process.off("exit", unmount);
    spawnSync("umount", ["--lazy", path]);
    own?.remove();
  };
  // It must not stay mounted, however this process ends.
  process.once("exit", unmount);
  const ballast = join(path, "ballast");
  return {
    path,
    fill(but = 0) {
      const file = openSync(ballast, "w");
      for (const size of [1_048_576, 65_536, 4096, 1]) writeUntilFull(file, Buffer.alloc(size));
      closeSync(file);
      truncateSync(ballast, Math.max(0, statSync(ballast).size - but));
    },
    empty: () => rmSync(ballast),
    [Symbol.dispose]: unmount,
  };
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
