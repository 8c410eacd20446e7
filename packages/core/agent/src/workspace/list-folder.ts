import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import type { Stats } from "node:fs";
import type { WorkspaceEntry } from "@svc/contract";
import { child, type Opened, type Opener } from "@svc/kit/files";
import { needFolder } from "./file-error.ts";
import type { PathRules } from "./path-rules.ts";

export async function listFolder(
  opener: Opener,
  rules: PathRules,
  path: string,
  limit: number,
): Promise<{ entries: WorkspaceEntry[]; truncated: boolean }> {
  await using folder = await opener(rules.locate(path));
  await rules.admit(folder.realPath);
  needFolder(folder.stats);
  const { names, complete } = await namesIn(folder);
  await folder.verify();
  names.sort();
  const entries: WorkspaceEntry[] = [];
  for (const name of names) {
    if (await rules.isHidden(join(folder.realPath, name))) continue;
    if (entries.length === limit) return { entries, truncated: true };
    entries.push(await entryOf(folder, name));
  }
  return { entries, truncated: !complete };
}

/** A folder of millions must not fill the memory. */
const MAX_NAMES = 100_000;

async function namesIn(folder: Opened): Promise<{ names: string[]; complete: boolean }> {
  const names: string[] = [];
  for await (const entry of await opendir(folder.via)) {
    if (names.length === MAX_NAMES) return { names, complete: false };
    names.push(entry.name);
  }
  return { names, complete: true };
}

async function entryOf(folder: Opened, name: string): Promise<WorkspaceEntry> {
  // Gone since the folder was read, or a name that is not UTF-8: listed, but nothing is known of it.
  const stats = await lstat(child(folder, name)).catch(() => undefined);
  const kind = stats ? kindOf(stats) : "other";
  return { name, kind, size: kind === "file" ? (stats?.size ?? 0) : 0 };
}

function kindOf(stats: Stats): WorkspaceEntry["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "symlink" : "other";
}
