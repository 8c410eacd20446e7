import type { Stats } from "node:fs";
import { lstat, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import { child, type Opened, type Opener } from "@svc/kit/files";
import { errnoOf, needFile, notAFile } from "./file-error.ts";
import type { PathRules } from "./path-rules.ts";

/**
 * What is removed is below the very folder that was looked at: `unlink` and `rmdir` follow nothing. A folder on the way that
 * was replaced by a symlink would have somebody else's file removed, so then nothing is.
 */
export async function removeEntry(opener: Opener, rules: PathRules, path: string): Promise<boolean> {
  const target = rules.locate(path);
  if (target === rules.root || basename(target) === "") throw notAFile();
  try {
    await using folder = await opener(dirname(target));
    if (folder.realPath !== dirname(target)) throw throughLink();
    await rules.admit(join(folder.realPath, basename(target)));
    await removeFrom(folder, basename(target));
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function removeFrom(folder: Opened, name: string): Promise<void> {
  const entry = child(folder, name);
  const stats: Stats = await lstat(entry);
  if (!stats.isDirectory()) needFile(stats);
  await folder.verify();
  await (stats.isDirectory() ? rmdir(entry) : unlink(entry));
}

const throughLink = (): SvcError =>
  new SvcError("PATH_FORBIDDEN", "The path leads through a symbolic link, and nothing is removed through one.");
