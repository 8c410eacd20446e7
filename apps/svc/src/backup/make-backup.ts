/** A backup: copied beside its place, checked, packed, and there under its name all at once or not at all. */
import { createHash, randomUUID } from "node:crypto";
import { constants, createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { link, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Clock, SvcError } from "@svc/contract";
import type { Home } from "@svc/kernel";
import { child, type Opened, openPath } from "@svc/kit/files";
import { checkDatabase, checkFeatureDatabase } from "@svc/store";
import { copyHome, type CopyOptions } from "./copy-home.ts";
import { noteBackup } from "./last-backup.ts";
import { type BackupFile, DATABASE, formatOf, isFeatureDatabase, type Manifest } from "./manifest.ts";
import { pack } from "./pack.ts";
import { openStage } from "./stage.ts";

export interface BackupOptions extends CopyOptions {
  /** Absolute; must not exist. */
  readonly target: string;
  readonly svcVersion: string;
  readonly clock: Clock;
}

export interface BackupReport {
  readonly manifest: Manifest;
  readonly bytes: number;
  /** Entries of the workspace that a backup does not hold: links, special files, files with several names, odd names. */
  readonly leftOut: number;
}

/** Throws BACKUP_FAILED. */
export async function makeBackup(home: Home, options: BackupOptions): Promise<BackupReport> {
  const { target, svcVersion, clock } = options;
  if (existsSync(target)) throw isThere();
  if (!existsSync(home.config) && !existsSync(home.database)) {
    throw new SvcError("BACKUP_FAILED", `There is nothing to back up in ${home.root}.`, {
      hint: "Name the home with SVC_HOME.",
    });
  }
  using stage = await openStage(dirname(target), home.runDir);
  const folder = join(stage.folder, "home");
  const archive = join(stage.folder, "archive");
  try {
    const leftOut = await copyHome(home, folder, options);
    const files = await filesOf(folder);
    demandSound(folder, files);
    const manifest: Manifest = {
      format: formatOf(files),
      svc_version: svcVersion,
      schema_version: await schemaOf(join(folder, DATABASE), clock),
      created_at: new Date(clock.now()).toISOString(),
      files,
    };
    await pack(folder, manifest, archive);
    await publish(archive, target);
    const { size: bytes } = statSync(target);
    noteBackup(home, { file: target, at: manifest.created_at, bytes });
    return { manifest, bytes, leftOut };
  } catch (error) {
    throw failed(error);
  }
}

/** A damaged database is told now, and not when the backup is needed. */
async function schemaOf(database: string, clock: Clock): Promise<number | null> {
  if (!existsSync(database)) return null;
  const { schema, problems } = await checkDatabase(database, { quick: false, clock });
  if (schema !== undefined && problems.length === 0) return schema;
  throw new SvcError("BACKUP_FAILED", `The database is damaged: ${problems.join(" ")}`, { hint: "Run: svc doctor" });
}

function demandSound(folder: string, files: readonly BackupFile[]): void {
  for (const { path } of files.filter((file) => isFeatureDatabase(file.path))) {
    const problems = checkFeatureDatabase(join(folder, path));
    if (problems.length === 0) continue;
    throw new SvcError("BACKUP_FAILED", `${path} is damaged: ${problems.join(" ")}`, {
      hint: "Restore an older backup.",
    });
  }
}

async function filesOf(folder: string): Promise<BackupFile[]> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const files: BackupFile[] = [];
  for (const path of paths) {
    const hash = createHash("sha256");
    const file = join(folder, path);
    await pipeline(createReadStream(file), hash);
    files.push({ path: path.replaceAll("\\", "/"), size: statSync(file).size, sha256: hash.digest("hex") });
  }
  return files;
}

/** Under its name in one step, never over another file. The folder is held open: a link that takes its place changes nothing. */
async function publish(archive: string, target: string): Promise<void> {
  await using folder = await openPath(dirname(target));
  const place = child(folder, basename(target));
  try {
    await link(archive, place);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw isThere();
    if (code === "ENOSPC" || code === "EDQUOT") throw error;
    // Another disk, or a file system without hard links.
    await copyNew(archive, folder, basename(target));
  }
  await using handle = await folder.reopen(constants.O_RDONLY);
  await handle.sync().catch(() => undefined); // not every file system takes it for a folder
}

async function copyNew(archive: string, folder: Opened, name: string): Promise<void> {
  const draft = `.svc-backup-${randomUUID()}`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  try {
    await using file = await open(child(folder, draft), flags, 0o600);
    for await (const chunk of createReadStream(archive)) await file.writeFile(chunk as Buffer);
    await file.sync();
    // A rename would replace a file that came to be meanwhile; without hard links it is the only way.
    await link(child(folder, draft), child(folder, name)).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST" || (await folder.enter(name).catch(() => undefined))) throw isThere();
      await rename(child(folder, draft), child(folder, name));
    });
  } finally {
    await unlink(child(folder, draft)).catch(() => undefined);
  }
}

const isThere = (): SvcError =>
  new SvcError("BACKUP_FAILED", "There is a file of this name already.", { hint: "Name another one." });

function failed(cause: unknown): SvcError {
  if (cause instanceof SvcError && cause.code === "BACKUP_FAILED") return cause;
  if (isFull(cause)) {
    return new SvcError("BACKUP_FAILED", "There is no room for the backup.", {
      cause,
      hint: "Free some space there, or name a file on another disk.",
    });
  }
  const known = cause instanceof SvcError ? { hint: cause.hint } : {};
  const what =
    cause instanceof SvcError ? cause.message : "A file of the home could not be read, or the backup not written.";
  return new SvcError("BACKUP_FAILED", what, { cause, ...(known.hint !== undefined && { hint: known.hint }) });
}

const isFull = (cause: unknown): boolean =>
  (cause instanceof SvcError && cause.code === "STORE_FULL") || (cause as NodeJS.ErrnoException).code === "ENOSPC";
