/** A backup: copied beside its place, checked, packed, and there under its name all at once or not at all. */
import { createHash, randomUUID } from "node:crypto";
import {
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { link, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Home, nextKeyFile } from "@svc/config";
import { type Clock, SvcError } from "@svc/contract";
import { child, copyTree, isPrivateFolder, type Opened, openPath, removePath } from "@svc/kit/files";
import { checkDatabase, checkFeatureDatabase, copyDatabase as copyFeatureDatabase, lockHome } from "@svc/store";
import { noteBackup } from "./known-backups.ts";
import {
  type BackupFile,
  CONFIG,
  DATABASE,
  FEATURE_DATABASES,
  formatOf,
  isFeatureDatabase,
  isPlainName,
  KEY,
  type Manifest,
  NEXT_KEY,
  WORKSPACE,
} from "./manifest.ts";
import { pack } from "./archive.ts";
import { journalFile } from "./swap.ts";

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

/**
 * A folder of ours for a file that is being made. It holds secrets on their way, and goes with the work, done or not. The next backup in
 * the same place removes the stage of a killed process: the system has dropped the lock in it.
 */
interface Stage extends Disposable {
  readonly folder: string;
}

/**
 * In `parent`, so that the file needs no second copy; in `otherwise`, a folder of the home, where other users could swap what lies
 * in `parent`. Removed on Ctrl-C too. Throws BACKUP_FAILED when nothing can be made there.
 */
async function openStage(parent: string, otherwise: string): Promise<Stage> {
  const isPrivate = await isPrivateFolder(parent).catch((cause: unknown) => unwritable(parent, cause));
  const place = isPrivate ? parent : otherwise;
  await removeAbandoned(place);
  const folder = join(place, `.svc-backup-${randomUUID()}`);
  let unlock = (): void => {};
  // No other user can change what is in `place`. At once, so that nothing is made behind it before the process ends.
  const remove = (): void => {
    unlock();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const stopWatching = watchSignals(remove);
  try {
    mkdirSync(folder, { recursive: !isPrivate, mode: 0o700 });
    unlock = lockHome(join(folder, LOCK));
  } catch (cause) {
    stopWatching();
    remove();
    unwritable(place, cause);
  }
  return {
    folder,
    [Symbol.dispose]: () => {
      stopWatching();
      remove();
    },
  };
}

const LOCK = "lock";
const STAGE = /^\.svc-backup-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function removeAbandoned(place: string): Promise<void> {
  if (!existsSync(place)) return;
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    const path = join(place, entry.name);
    if (entry.isDirectory() && STAGE.test(entry.name) && isAbandoned(path)) await removePath(path);
  }
}

/** The lock is made first and removed with the rest: a stage without one is about to be used while it is empty. */
function isAbandoned(stage: string): boolean {
  const lock = join(stage, LOCK);
  try {
    if (!existsSync(lock)) return !removeEmpty(stage) && !existsSync(lock);
    lockHome(lock)();
    return true;
  } catch {
    return false; // in use, or another user's
  }
}

/** Another backup that was about to use it makes it again. */
function removeEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function unwritable(folder: string, cause: unknown): never {
  throw new SvcError("BACKUP_FAILED", `${folder} can't be written.`, { cause, hint: "Name a file in another folder." });
}

/** The process still ends by the signal, after `remove`. */
function watchSignals(remove: () => void): () => void {
  const stopWatching = (): void => SIGNALS.forEach((name) => process.off(name, onSignal));
  const onSignal = (name: NodeJS.Signals): void => {
    stopWatching();
    remove();
    process.kill(process.pid, name);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return stopWatching;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What a backup holds, copied out of a home that may be in use. Nothing is locked: each file is whole, and they fit together. */
interface CopyOptions {
  readonly withKey: boolean;
  readonly workspace: boolean;
  /** Copies the database to a file that does not exist. */
  readonly copyDatabase: (to: string) => Promise<void>;
}

/** How often it begins anew because the keys changed meanwhile, or a restore put other files in their places. */
const TRIES = 3;

/** Makes `folder`. Resolves with how many things of the workspace were left out, as `copyTree` says. */
export async function copyHome(home: Home, folder: string, options: CopyOptions): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const before = fingerprint(home);
    await copyOnce(home, folder, options);
    if (before === fingerprint(home)) break;
    if (tries === TRIES) throw new SvcError("BACKUP_FAILED", "The home was changed all the while. Try again.");
    await removePath(folder);
  }
  // The working directory of tools: what they write meanwhile depends on nothing else here.
  return options.workspace ? copyWorkspace(home.workspace, join(folder, WORKSPACE), dirname(folder)) : 0;
}

async function copyOnce(home: Home, folder: string, { withKey, copyDatabase }: CopyOptions): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  copyFile(home.config, join(folder, CONFIG));
  if (withKey) {
    copyFile(home.secretKey, join(folder, KEY));
    copyFile(nextKeyFile(home), join(folder, NEXT_KEY));
  }
  if (!existsSync(home.database)) return;
  const target = join(folder, DATABASE);
  mkdirSync(dirname(target), { mode: 0o700 });
  await copyDatabase(target);
  // Behind it: a channel that reads again from where the database stands finds keys that it knows, and none that it lacks.
  for (const path of featureDatabases(home)) {
    mkdirSync(join(folder, FEATURE_DATABASES), { recursive: true, mode: 0o700 });
    await copyFeatureDatabase(join(home.root, path), join(folder, path));
  }
}

function featureDatabases({ root }: Home): string[] {
  const folder = join(root, FEATURE_DATABASES);
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ name }) => `${FEATURE_DATABASES}/${name}`).filter(isFeatureDatabase);
}

/** Changes with whatever would make the copies unfit for each other: what one key sealed, another does not open. */
function fingerprint(home: Home): string {
  const keys = [home.secretKey, nextKeyFile(home)].map((file) => (existsSync(file) ? readFileSync(file, "utf8") : ""));
  const databases = [home.database, ...featureDatabases(home).map((path) => join(home.root, path))];
  const files = databases.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.ino]);
  return JSON.stringify([...keys, ...files, existsSync(journalFile(home.root))]);
}

/** All but `not`: the backup may be made in the workspace itself. Commands that run meanwhile may swap folders for links. */
async function copyWorkspace(from: string, to: string, not: string): Promise<number> {
  await using workspace = await openPath(from);
  const real = realpathSync(not);
  return await copyTree(workspace, to, { takesName: isPlainName, skips: (path) => path === real });
}

/** What is gone again is no mistake. */
function copyFile(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
