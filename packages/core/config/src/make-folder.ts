/**
 * A folder and those above it, of this user alone (0700). Not by `recursive: true`: where a file system says of a folder
 * below one that is there that it can't be (ENOENT, as /proc does), that tries again for ever, with a whole core.
 */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Resolves when it is there; rejects with what the system says. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await make(path);
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    // What the system says of a folder that is there differs: EEXIST, of a drive EPERM, of one that can't be written EROFS.
    if (!(await isFolder(path))) throw error;
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
