/**
 * A folder of ours for a file that is being made. It holds secrets on their way, and goes with the work, done or not. The next
 * backup in the same place removes the stage of a killed process: the system has dropped the lock in it.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { isPrivateFolder, removePath } from "@svc/kit/files";
import { lockHome } from "@svc/store";

export interface Stage extends Disposable {
  readonly folder: string;
}

/**
 * In `parent`, so that the file needs no second copy; in `otherwise`, a folder of the home, where other users could swap what lies
 * in `parent`. Removed on Ctrl-C too. Throws BACKUP_FAILED when nothing can be made there.
 */
export async function openStage(parent: string, otherwise: string): Promise<Stage> {
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
