/** A disk that is full after some megabytes. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "../require-real.ts";
import { temporaryHome } from "../temporary-home.ts";

export interface SmallDisk extends Disposable {
  readonly path: string;
}

/** Undefined where it can't be mounted. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const folder = temporaryHome();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0700`, "tmpfs", folder.path]);
  if (status !== 0) {
    folder.remove();
    return undefined;
  }
  const unmount = (): void => {
    process.off("exit", unmount);
    spawnSync("umount", ["--lazy", folder.path]);
    folder.remove();
  };
  // It must not stay mounted, however this process ends.
  process.once("exit", unmount);
  return { path: folder.path, [Symbol.dispose]: unmount };
}

export const NO_SMALL_DISK: MissingPart = {
  name: "a small disk",
  reason: "mounting a tmpfs needs Linux, and root",
  tier: "B",
};

/** Takes all the room that is left. */
export function fill(folder: string): { remove(): void } {
  const path = join(folder, "ballast");
  const file = openSync(path, "w");
  for (const size of [1_048_576, 4096, 1]) writeUntilFull(file, Buffer.alloc(size));
  closeSync(file);
  return { remove: () => rmSync(path) };
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
