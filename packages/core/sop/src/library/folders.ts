/** The folders of procedures. */
import type { Dirent } from "node:fs";
import { access, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SOP_TOML } from "./file-names.ts";

export const SOP_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
export const NAME_RULE = "a procedure's folder is named a-z 0-9 _ -, beginning with a letter or digit, at most 64";
export const MOST_SOPS = 10_000;

export interface Folders {
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
  const names = entries.flatMap(({ name }, index) => (found[index] && !name.startsWith(".") ? [name] : [])).toSorted();
  const well = names.filter((name) => SOP_NAME.test(name));
  const badly = names.filter((name) => !SOP_NAME.test(name));
  const have = await Promise.all(badly.map((name) => exists(join(folder, name, SOP_TOML))));
  return {
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
