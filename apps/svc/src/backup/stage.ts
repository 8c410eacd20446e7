/** A folder of ours beside a file that is being made. It holds secrets on their way, and goes with the work, done or not. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { SvcError } from "@svc/contract";

export interface Stage extends Disposable {
  readonly folder: string;
}

/** Throws BACKUP_FAILED when nothing can be made in `parent`. */
export function openStage(parent: string): Stage {
  const folder = join(parent, `.svc-backup-${randomUUID()}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    throw new SvcError("BACKUP_FAILED", `${parent} can't be written.`, {
      cause,
      hint: "Name a file in another folder.",
    });
  }
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const onSignal = (name: NodeJS.Signals): void => {
    remove();
    process.kill(process.pid, name);
  };
  for (const name of SIGNALS) process.once(name, onSignal);
  return {
    folder,
    [Symbol.dispose]: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      remove();
    },
  };
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
