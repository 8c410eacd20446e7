/** A folder of ours beside a file that is being made. It holds secrets on their way, and goes with the work, done or not. */
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";

export interface Stage extends Disposable {
  readonly folder: string;
}

/** Goes with Ctrl-C too. Throws BACKUP_FAILED when nothing can be made in `parent`. */
export function openStage(parent: string): Stage {
  const folder = join(parent, `.svc-backup-${randomUUID()}`);
  // Retries: a thread may be writing into it.
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const stopWatching = watchSignals(remove);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    stopWatching();
    const hint = "Name a file in another folder.";
    throw new SvcError("BACKUP_FAILED", `${parent} can't be written.`, { cause, hint });
  }
  return {
    folder,
    [Symbol.dispose]: () => {
      stopWatching();
      remove();
    },
  };
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
