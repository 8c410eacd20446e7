/**
 * Puts plugins in their place. A new plugin's folder appears whole; of one that is there `approved.json` is replaced, which names
 * the release in effect. A process killed at any instant leaves the old plugin or the new one, and perhaps what the next one clears.
 */
import { type Clock, SvcError } from "@svc/contract";
import { removePath } from "@svc/kit/files";
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, open, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { type Approval, APPROVAL_FILE, approvalText, readApproval, readPlugin, RELEASE_NAME } from "../installed.ts";
import { MANIFEST_FILE } from "../manifest.ts";
import type { PluginPackage } from "./package.ts";

/** Of folders that are not in their place yet, or no more. */
const STAGED = ".staged-";

export const newReleaseName = (): string => randomBytes(6).toString("hex");

/** Only under the lock. Rejects with what the system says, and leaves what was there. */
export async function putPlugin(
  pluginsFolder: string,
  { toml, wasm, manifest }: PluginPackage,
  approval: Approval,
): Promise<void> {
  const staged = join(pluginsFolder, `${STAGED}${newReleaseName()}`);
  const target = join(pluginsFolder, manifest.name);
  try {
    const release = join(staged, approval.release);
    await mkdir(release, { recursive: true, mode: 0o700 });
    await writeSynced(join(release, MANIFEST_FILE), toml);
    await writeSynced(join(release, manifest.wasm), wasm);
    await syncFolder(release);
    await writeSynced(join(staged, APPROVAL_FILE), approvalText(approval));
    await syncFolder(staged);
    if (!(await isThere(target))) {
      await rename(staged, target);
      await syncFolder(pluginsFolder);
      return;
    }
    // Or what was approved would be left out, where others may write into the folder.
    await chmod(target, 0o700);
    await rename(release, join(target, approval.release));
    await syncFolder(target);
    await rename(join(staged, APPROVAL_FILE), join(target, APPROVAL_FILE));
    await syncFolder(target);
  } finally {
    await removePath(staged);
  }
}

/** Only under the lock. Takes effect at once; the next change deletes remaining files that can't be deleted now. */
export async function removePlugin(pluginsFolder: string, name: string): Promise<void> {
  const aside = join(pluginsFolder, `${STAGED}${newReleaseName()}`);
  await rename(join(pluginsFolder, name), aside);
  await syncFolder(pluginsFolder);
  await removePath(aside);
}

/** Only under the lock, where no one else is at work: removes what killed commands left, and releases that nothing names. */
export async function clearLeftovers(pluginsFolder: string): Promise<void> {
  for (const entry of await readdir(pluginsFolder, { withFileTypes: true })) {
    const path = join(pluginsFolder, entry.name);
    if (entry.name.startsWith(STAGED)) await removePath(path);
    else if (entry.isDirectory()) await clearReleases(path);
  }
}

async function clearReleases(folder: string): Promise<void> {
  const approval = await readApproval(folder).catch(() => undefined);
  // Without a record the active version is unknown.
  if (!approval) return;
  for (const name of await readdir(folder)) {
    if (RELEASE_NAME.test(name) && name !== approval.release) await removePath(join(folder, name));
  }
}

/** Makes it where it is missing, for this user alone. */
export async function openPluginsFolder(pluginsFolder: string): Promise<void> {
  await mkdir(pluginsFolder, { recursive: true, mode: 0o700 });
}

/** The system's reason for a failed write, for a person. */
export function unwritable(error: unknown): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (error instanceof SvcError || !/^E[A-Z]+$/.test(code)) return error;
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new SvcError("STORE_FULL", "The disk is full; the plugins are as they were.", { cause: error });
  }
  return new SvcError("HOME_UNWRITABLE", "The folder of the plugins can't be written; they are as they were.", {
    hint: "Look who owns it, and run this as that user. plugins.plugins_dir names it.",
    cause: error,
  });
}

async function isThere(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink()) {
    throw new SvcError("PLUGIN_REFUSED", "In the plugin's place is a symbolic link, which is left alone.", {
      hint: "Remove the link, and install again.",
    });
  }
  return stats !== undefined;
}

async function writeSynced(file: string, content: Uint8Array | string): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Or the names in it could be lost with the power. Windows has no such thing as opening a folder. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * One change of the plugins at a time, over all processes. The lock is SQLite's own file lock on an empty database, which the
 * system drops with the process, so that a killed install stops no other.
 */
const SQLITE_BUSY = 5;
const RETRY_MS = 20;
/** A change writes at most 20 MiB; no prompt and no download happen under the lock. */
const LONGEST_MS = 30_000;

/** Throws BUSY when others change the plugins all the time. */
export async function withPluginLock<T>(
  pluginsFolder: string,
  clock: Pick<Clock, "monotonic" | "sleep">,
  signal: AbortSignal,
  change: () => Promise<T>,
): Promise<T> {
  const { DatabaseSync } = await import("node:sqlite");
  for (const startMs = clock.monotonic(); ;) {
    const database = new DatabaseSync(join(pluginsFolder, ".lock"), { timeout: 0 });
    try {
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
      return await change();
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 !== SQLITE_BUSY) throw error;
      if (clock.monotonic() - startMs > LONGEST_MS) {
        throw new SvcError("BUSY", "Another svc command changes the plugins all the time.", { cause: error });
      }
    } finally {
      database.close();
    }
    await clock.sleep(RETRY_MS, signal);
  }
}

/** The installed state before an install changes it. */
export interface Installed {
  /** undefined: it is missing that can be read. */
  readonly approval: Approval | undefined;
  /** It is as it was approved. */
  readonly isIntact: boolean;
}

/** undefined: nothing. */
export async function installedAt(pluginsFolder: string, name: string): Promise<Installed | undefined> {
  const folder = join(pluginsFolder, name);
  const isThere = await lstat(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const approval = await readApproval(folder).catch(() => undefined);
  const isIntact = await readPlugin(folder, name).then(
    () => true,
    () => false,
  );
  return { approval, isIntact };
}

/** No one changed it since it was looked at. */
export const isUnchanged = (before: Installed | undefined, now: Installed | undefined): boolean =>
  (before === undefined) === (now === undefined) &&
  before?.isIntact === now?.isIntact &&
  before?.approval?.release === now?.approval?.release;
