/** A backup unpacked beside the home's files and found to be sound: from here on it only has to change places with them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Home, homeOf, loadConfig, type LoadedConfig, replaceFile } from "@svc/config";
import { type Clock, type Composition, SvcError } from "@svc/contract";
import {
  checkDatabase,
  checkFeatureDatabase,
  FIRST_WITH_APPROVALS,
  lockHome,
  type SetAside,
  setAsideWaiting,
  skipApprovalNumbers,
} from "@svc/store";
import {
  CONFIG,
  damaged,
  DATABASE,
  isFeatureDatabase,
  KEY,
  MANIFEST,
  type Manifest,
  parseManifest,
  WORKSPACE,
} from "./manifest.ts";
import { isRestoreFolder, journalFile, keptFolder, swapIn } from "./swap.ts";
import { unpack } from "./archive.ts";

/** Disposed of without `apply`, it leaves no trace. */
export interface PreparedRestore extends RestoredFiles, Disposable {
  readonly setAside: Everything;
}

interface Everything extends SetAside {
  /** Of procedures, that had not ended. */
  readonly runs: number;
}

export interface RestoreOptions {
  readonly clock: Clock;
  /** What waited when the backup was made is answered and sent. Default: set aside, as it may have been since. */
  readonly withWaiting?: boolean;
}

/** Throws BACKUP_INVALID, STORE_NEWER, STORE_FULL, HOME_UNWRITABLE, ALREADY_RUNNING; nothing was changed then. */
export async function prepareRestore(
  home: Home,
  file: string,
  { clock, withWaiting = false }: RestoreOptions,
): Promise<PreparedRestore> {
  demandOwner(home);
  const unlock = lockHome(restoreLock(home));
  let name: string | undefined;
  let setAside = NOTHING;
  try {
    removeLeftOver(home);
    name = makeFolder(home.root, clock.now());
    const folder = join(home.root, name);
    const manifest = await unpack(file, folder);
    await checkRestored(folder, manifest, clock);
    if (!withWaiting) setAside = await setAsideAll(join(folder, DATABASE), manifest.schema_version ?? 0, clock);
    if (manifest.schema_version !== null) skipApprovalNumbers(join(folder, DATABASE), home.database);
    removeLog(join(folder, DATABASE));
    demandOneDisk(home, manifest);
    // Written last: a folder that has it is whole.
    replaceFile(join(folder, MANIFEST), JSON.stringify(manifest));
  } catch (error) {
    try {
      if (name !== undefined) remove(home, name);
    } finally {
      unlock();
    }
    throw error;
  }
  const prepared = restoredFiles(home, name);
  return {
    ...prepared,
    setAside,
    [Symbol.dispose]: () => {
      if (!prepared.applied()) remove(home, name);
      unlock();
    },
  };
}

const NOTHING: Everything = { messages: 0, deliveries: 0, runs: 0 };

async function setAsideAll(database: string, schema: number, clock: Clock): Promise<Everything> {
  if (schema === 0) return NOTHING;
  const waiting = setAsideWaiting(database, clock);
  if (schema < FIRST_WITH_APPROVALS) return { ...waiting, runs: 0 };
  // Loaded here: most of what it needs is procedures, of which there are none in older ones.
  const { setAsideRuns } = await import("../service/governance/offline-engine.ts");
  // After what waited to be sent: who was asked hears that it is over.
  return { ...waiting, runs: await setAsideRuns(database) };
}

/** What a restore has unpacked that was killed before it changed anything: it holds a key. Never throws. */
export function removeKilledRestore(home: Home): void {
  try {
    const unlock = lockHome(restoreLock(home));
    try {
      removeLeftOver(home);
    } finally {
      unlock();
    }
  } catch {
    // A restore is at work, and removes its own; or the disk refuses.
  }
}

const restoreLock = ({ runDir }: Home): string => join(runDir, "restore.lock");

/** Of one that was killed before it changed anything. With the restore's lock, and no journal: nobody needs it. */
function removeLeftOver(home: Home): void {
  if (existsSync(journalFile(home.root))) return;
  for (const name of readdirSync(home.root)) if (isRestoreFolder(name)) remove(home, name);
}

async function checkRestored(folder: string, { schema_version: wanted, files }: Manifest, clock: Clock): Promise<void> {
  const database = join(folder, DATABASE);
  const ofFeatures = files.filter(({ path }) => isFeatureDatabase(path));
  if (existsSync(database) !== (wanted !== null)) throw damaged("its list of files is malformed");
  if (wanted === null && ofFeatures.length > 0) throw damaged("its list of files is malformed");
  if (wanted === null) return;
  for (const { path } of ofFeatures) {
    if (checkFeatureDatabase(join(folder, path)).length > 0) throw damaged("a database of a feature is damaged");
  }
  const { schema, problems } = await checkDatabase(database, { quick: false, clock });
  if (problems.length > 0 || schema !== wanted) throw damaged("its database is damaged");
}

/** Whoever opens a database that says it has a log makes one. */
function removeLog(database: string): void {
  for (const extra of ["-wal", "-shm"]) rmSync(`${database}${extra}`, { force: true });
}

/** Restored by root, the files would be root's, and a daemon of another user could not read its own config. */
function demandOwner(home: Home): void {
  const files = [home.database, home.config].map((file) => statSync(file, { throwIfNoEntry: false }));
  const owner = files.find((file) => file !== undefined)?.uid;
  if (owner === undefined || process.getuid === undefined || owner === process.getuid()) return;
  throw new SvcError("HOME_UNWRITABLE", "The files of the home belong to another user.", {
    hint: `Run it as that user: sudo -u '#${owner}' svc restore`,
  });
}

/** Files change their place by a rename, which knows no way to another disk. */
function demandOneDisk(home: Home, { files }: Manifest): void {
  const disk = statSync(home.root).dev;
  const places = [
    home.stateDir,
    ...(files.some(({ path }) => path.startsWith(`${WORKSPACE}/`)) ? [home.workspace] : []),
  ];
  if (places.every((place) => (statSync(place, { throwIfNoEntry: false })?.dev ?? disk) === disk)) return;
  throw new SvcError("HOME_UNWRITABLE", "Deps of the home are on another disk; nothing can be put in their places.", {
    hint: "Restore into an empty folder (SVC_HOME), and copy the files from there.",
  });
}

function makeFolder(root: string, nowMs: number): string {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  for (let n = 1; ; n += 1) {
    const name = `restore-${time}${n === 1 ? "" : `-${n}`}`;
    if (existsSync(join(root, name)) || existsSync(join(root, keptFolder(name)))) continue;
    mkdirSync(join(root, name), { mode: 0o700 });
    return name;
  }
}

const remove = (home: Home, folder: string): void => rmSync(join(home.root, folder), { recursive: true, force: true });

/** Restored files, kept in a folder of the home until no process has the home open. */
export interface RestoredFiles {
  readonly manifest: Manifest;
  /** Name of their folder. */
  readonly folder: string;
  /** Puts them in place. Only with the home's lock, and nothing of it open. Throws HOME_UNWRITABLE. */
  apply(): void;
  /** Whether they have left for their places. */
  applied(): boolean;
  /** Where what was there before is now; undefined when there was nothing. */
  previous(): string | undefined;
}

/** Throws BACKUP_INVALID when there are none of this name, or not all of them. */
export function restoredFiles({ root }: Pick<Home, "root">, folder: string): RestoredFiles {
  const marker = join(root, folder, MANIFEST);
  const demand = (): void => {
    if (!isRestoreFolder(folder) || !existsSync(marker)) throw damaged("its unpacked files are gone");
  };
  demand();
  const previous = join(root, keptFolder(folder));
  return {
    manifest: parseManifest(readFileSync(marker, "utf8")),
    folder,
    apply: () => {
      demand();
      swapIn(root, folder);
    },
    applied: () => !existsSync(marker),
    previous: () => (existsSync(previous) ? previous : undefined),
  };
}

/**
 * The config of a backup, loaded where it was unpacked: as this build and this environment would find it in its place. Undefined when the backup has none. Throws what loading a config throws.
 */
export async function restoredConfig(
  home: Home,
  { folder, manifest }: Pick<RestoredFiles, "folder" | "manifest">,
  build: Pick<Composition, "features" | "catalogue">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig | undefined> {
  const has = (path: string): boolean => manifest.files.some((file) => file.path === path);
  if (!has(CONFIG)) return undefined;
  const restored = homeOf({ SVC_HOME: join(home.root, folder) });
  const secretKey = has(KEY) ? restored.secretKey : home.secretKey;
  return loadConfig({ home: { ...restored, secretKey }, env, features: build.features, catalogue: build.catalogue });
}
