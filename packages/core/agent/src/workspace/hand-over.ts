import type { Dirent } from "node:fs";
import { lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Confinement } from "@svc/contract";

/**
 * Gives a workspace of root's to whom its commands run as. No link is followed, another file system is not entered, and a file with
 * several names (hard links) stays root's: one of them may be elsewhere. The workspace itself comes last: as long as it is root's
 * nobody else can change what is being walked, and after a kill the next start goes on.
 */
export async function handOver(workspace: string, user: NonNullable<Confinement["user"]>): Promise<void> {
  const { dev } = await lstat(workspace);
  await handOverBelow(workspace, user, dev);
  await lchown(workspace, user.uid, user.gid);
}

async function handOverBelow(folder: string, user: NonNullable<Confinement["user"]>, dev: number): Promise<void> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true });
  for (const { name } of entries) {
    const path = join(folder, name);
    const stats = await lstat(path);
    if (stats.dev !== dev || stats.uid !== 0) continue;
    if (stats.isDirectory()) await handOverBelow(path, user, dev);
    else if (stats.nlink > 1) continue;
    await lchown(path, user.uid, user.gid);
  }
}
