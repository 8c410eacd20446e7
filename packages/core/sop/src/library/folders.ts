/** The folders of procedures. */
import type { Dirent } from "node:fs";
import { access, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SOP_NAME, SOP_TOML } from "./types.ts";
import { PENDING, type PendingChange, readPending } from "./files.ts";

export const MOST_SOPS = 10_000;

export interface Folders {
  /** The change that is being written to some of them; undefined: none is. */
  readonly pending: PendingChange | undefined;
  /** Names of procedures, in order, at most MOST_SOPS. */
  readonly names: readonly string[];
  /** Folders with a procedure in them, and a name that none can have. */
  readonly misnamed: readonly string[];
  /** There are more than MOST_SOPS. */
  readonly tooMany: boolean;
}

/** None when the folder does not exist. Rejects when it can't be read. */
export async function listFolders(folder: string): Promise<Folders> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(noneIfMissing);
  const found = await Promise.all(entries.map((entry) => isFolder(folder, entry)));
  const isChanging = entries.some(({ name }) => name === PENDING);
  const pending = isChanging ? await readPending(folder, await workspaceOf(folder)) : undefined;
  const folders = entries.flatMap(({ name }, index) => (found[index] && !name.startsWith(".") ? [name] : []));
  // One that is being created has no folder yet.
  const names = [...new Set([...folders, ...(pending?.keys() ?? [])])].toSorted();
  const well = names.filter((name) => SOP_NAME.test(name));
  const badly = names.filter((name) => !SOP_NAME.test(name));
  const have = await Promise.all(badly.map((name) => exists(join(folder, name, SOP_TOML))));
  return {
    pending,
    names: well.slice(0, MOST_SOPS),
    misnamed: badly.filter((_name, index) => have[index]),
    tooMany: well.length > MOST_SOPS,
  };
}

/** The real path of the workspace, which the folder of procedures lies in. */
export const workspaceOf = (folder: string): Promise<string> => realpath(dirname(folder)).catch(() => dirname(folder));

async function isFolder(folder: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return stat(join(folder, entry.name)).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

function noneIfMissing(error: NodeJS.ErrnoException): Dirent[] {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
  throw error;
}

/** The results of `work` for each item, in their order; a few at a time, as each may hold a file open. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}

/** Folders of procedures that are read at the same time. */
export const AT_A_TIME = 32;
