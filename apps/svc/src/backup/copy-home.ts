/** What a backup holds, copied out of a home that may be in use. Nothing is locked: each file is whole, and they fit together. */
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import { type Home, nextKeyFile } from "@svc/kernel";
import { copyTree, openPath, removePath } from "@svc/kit/files";
import { copyDatabase as copyFeatureDatabase } from "@svc/store";
import {
  CONFIG,
  DATABASE,
  FEATURE_DATABASES,
  isFeatureDatabase,
  isPlainName,
  KEY,
  NEXT_KEY,
  WORKSPACE,
} from "./manifest.ts";
import { journalFile } from "./swap.ts";

export interface CopyOptions {
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
