/** A folder of ours for a file that is being made. It holds secrets on their way, and goes with the work, done or not. */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { isPrivateFolder, removePath } from "@svc/kit/files";

export interface Stage extends AsyncDisposable {
  readonly folder: string;
}

/**
 * In `parent`, so that the file needs no second copy; in `otherwise`, a folder of the home, where other users could swap what lies
 * in `parent`. Removed on Ctrl-C too. Throws BACKUP_FAILED when nothing can be made there.
 */
export async function openStage(parent: string, otherwise: string): Promise<Stage> {
  const isPrivate = await isPrivateFolder(parent).catch((cause: unknown) => unwritable(parent, cause));
  const place = isPrivate ? parent : otherwise;
  const folder = join(place, `.svc-backup-${randomUUID()}`);
  const stopWatching = watchSignals(() => removePath(folder));
  try {
    mkdirSync(folder, { recursive: !isPrivate, mode: 0o700 });
  } catch (cause) {
    stopWatching();
    unwritable(place, cause);
  }
  return {
    folder,
    [Symbol.asyncDispose]: async () => {
      stopWatching();
      await removePath(folder);
    },
  };
}

function unwritable(folder: string, cause: unknown): never {
  throw new SvcError("BACKUP_FAILED", `${folder} can't be written.`, { cause, hint: "Name a file in another folder." });
}

/** The process still ends by the signal, after `remove`. */
function watchSignals(remove: () => Promise<unknown>): () => void {
  const stopWatching = (): void => SIGNALS.forEach((name) => process.off(name, onSignal));
  const onSignal = (name: NodeJS.Signals): void => {
    void remove().finally(() => {
      stopWatching();
      process.kill(process.pid, name);
    });
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return stopWatching;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
