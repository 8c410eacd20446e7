import { constants } from "node:fs";
import { copyFile, mkdir, opendir } from "node:fs/promises";
import { join } from "node:path";
import type { Opened } from "./opened.ts";

export interface CopyTreeOptions {
  /** Whether an entry may be copied, by its name alone. Default: all. */
  readonly takesName?: (name: string) => boolean;
  /** Entries that are passed over without being counted, by their path in the source. */
  readonly skips?: (realPath: string) => boolean;
}

/**
 * Copies the folders and regular files of `from` to `to`, which must not exist and whose parent no other user can change. Links,
 * pipes, sockets and devices are left out, and so are other file systems, and files with several names (hard links) that do not
 * belong to the owner of `from`: one of the names may be elsewhere. So are folders too deep for a path, or a descriptor each. An
 * entry that disappears meanwhile is no error.
 *
 * Resolves with how many entries were left out.
 */
export async function copyTree(from: Opened, to: string, options: CopyTreeOptions = {}): Promise<number> {
  return copyFolder({ ...options, dev: from.stats.dev, uid: from.stats.uid, depth: 0 }, from, to);
}

const DEEPEST = 256;

interface Copying extends CopyTreeOptions {
  readonly dev: number;
  readonly uid: number;
  readonly depth: number;
}

async function copyFolder(copying: Copying, from: Opened, to: string): Promise<number> {
  const { takesName = () => true, skips = () => false } = copying;
  let left = 0;
  await mkdir(to, { mode: 0o700 });
  for await (const { name } of await opendir(from.via)) {
    if (skips(join(from.realPath, name))) continue;
    if (!takesName(name)) left += 1;
    else left += await copyEntry(copying, from, name, join(to, name));
  }
  return left;
}

async function copyEntry(copying: Copying, folder: Opened, name: string, to: string): Promise<number> {
  try {
    const entry = await folder.enter(name);
    await using found = entry;
    const { stats, via } = found;
    if (stats.dev !== copying.dev) return 1;
    if (stats.isDirectory()) {
      const depth = copying.depth + 1;
      return depth > DEEPEST ? 1 : await copyFolder({ ...copying, depth }, found, to);
    }
    if (!stats.isFile() || (stats.nlink > 1 && stats.uid !== copying.uid)) return 1;
    await found.verify();
    await copyFile(via, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await found.verify();
    return 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return 0;
    if (code === "ENAMETOOLONG") return 1;
    throw error;
  }
}
