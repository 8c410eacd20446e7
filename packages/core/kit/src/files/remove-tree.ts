import { randomBytes } from "node:crypto";
import { chmod, chown, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { child, type Opened, openPath } from "./opened.ts";

/**
 * Removes `name` of `folder` with all below it. Every step names one entry of a folder that is held open: a folder that another user
 * swaps for a link while this runs loses the link, never its target. Another file system is not entered.
 *
 * Resolves with whether nothing is left. An entry that can't be removed, or that reappears, is left behind.
 */
export async function removeTree(folder: Opened, name: string): Promise<boolean> {
  return removeEntry(folder, name, 0);
}

/** The same for a path whose parent folder only this user (or root) can change. A missing path counts as removed. */
export async function removePath(path: string): Promise<boolean> {
  let parent: Opened;
  try {
    parent = await openPath(dirname(path));
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
  await using folder = parent;
  return await removeTree(folder, basename(path));
}

/** How deep a tree is followed in place, which is also how many descriptors are held. */
const DEEPEST = 64;
/** Passes over a folder to which another process keeps adding, as a browser does that is just being ended. */
const PASSES = 5;
const PAUSE_MS = 20;

/** Deep parts are moved up to `top`, the folder that is removed, and taken apart there: neither descriptors nor stack run out. */
interface Removal {
  readonly top: Opened;
  readonly moved: string[];
}

async function removeEntry(folder: Opened, name: string, depth: number, removal?: Removal): Promise<boolean> {
  for (let pass = 0; pass < PASSES; pass += 1) {
    try {
      const entry = await folder.enter(name);
      await using found = entry;
      if (!found.stats.isDirectory()) {
        await folder.verify();
        await unlink(child(folder, name));
      } else if (found.stats.dev !== folder.stats.dev) return false;
      else if (removal && depth >= DEEPEST) await moveUp(folder, name, removal);
      else {
        await empty(found, depth + 1, removal);
        await folder.verify();
        await rmdir(child(folder, name));
      }
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return true;
      if (!RETRIED.has(codeOf(error))) return false;
      await pause(PAUSE_MS * pass);
    }
  }
  return false;
}

/** Removes all that is in `folder`, in the same way. */
export const emptyFolder = (folder: Opened): Promise<void> => empty(folder, 1);

export async function isEmpty(folder: Opened): Promise<boolean> {
  for await (const _entry of await opendir(folder.via)) return false;
  return true;
}

async function empty(folder: Opened, depth: number, outer?: Removal): Promise<void> {
  const removal = outer ?? { top: folder, moved: [] };
  await close(folder);
  for await (const { name } of await opendir(folder.via)) await removeEntry(folder, name, depth, removal);
  if (outer) return;
  for (let name = removal.moved.pop(); name !== undefined; name = removal.moved.pop())
    await removeEntry(folder, name, depth, removal);
}

async function moveUp(folder: Opened, name: string, { top, moved }: Removal): Promise<void> {
  const newName = `.svc-removed-${randomBytes(8).toString("hex")}`;
  await folder.verify();
  await rename(child(folder, name), child(top, newName));
  moved.push(newName);
}

/**
 * Closes the folder to everybody else, or its owner could add to it for ever; opens it to us, where a command took its own rights away.
 * By its descriptor: only the folder that is being emptied is changed.
 */
async function close({ stats, via, verify }: Opened): Promise<void> {
  const own = process.geteuid?.();
  if (own === undefined || (stats.uid !== own && own !== 0)) return;
  await verify();
  if (stats.uid !== own) await chown(via, own, process.getegid!());
  if ((stats.mode & 0o777) !== 0o700) await chmod(via, 0o700);
}

/** The entry became something else, or something was added, between two calls. */
const RETRIED = new Set(["ENOTEMPTY", "EEXIST", "EISDIR", "ENOTDIR", "EPERM", "PATH_OUTSIDE_WORKSPACE"]);

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);
