import { lstat, realpath } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Whether only this user and root decide what lies at `folder`: it and every folder above belong to one of the two, and no other
 * user may write them. In a sticky folder such as /tmp others may add names and can't change ours, so it passes as a folder above.
 */
export async function isPrivateFolder(folder: string): Promise<boolean> {
  const own = process.geteuid?.();
  if (own === undefined) return true; // Windows: the profile of a user is closed to others
  for (let path = await realpath(folder), last = true; ; path = dirname(path), last = false) {
    const { uid, mode } = await lstat(path);
    if (uid !== own && uid !== 0) return false;
    if ((mode & 0o022) !== 0 && (last || (mode & 0o1000) === 0)) return false;
    if (dirname(path) === path) return true;
  }
}
