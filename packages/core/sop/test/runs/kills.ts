/** What kills leave behind: copies of the database, one for each commit. */
import { cpSync, existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "@svc/store";
import { temporaryHome } from "@svc/testkit/temporary-home";

/** Copies what a process that is killed now would leave. */
export function leaveBehind(folder: string, target: string): void {
  for (const file of ["svc.db", "svc.db-wal"]) {
    const from = join(folder, file);
    if (existsSync(from)) cpSync(from, join(target, file));
  }
}

export interface Kill {
  readonly folder: string;
  /** Calls that may have been made by then: all that began before the next commit. */
  acts: string[];
}

/** What a kill after each commit would leave. `acts` grows as calls are made. */
export function killsOf(acts: readonly string[]): {
  readonly kills: Kill[];
  wrap(folder: () => string): (store: Store) => Store;
  remove(): void;
} {
  const kills: Kill[] = [];
  let size = 0;
  const remember = (folder: string): void => {
    // Of one commit many are told.
    const now = statSync(join(folder, "svc.db-wal")).size;
    if (now === size) return;
    size = now;
    const last = kills.at(-1);
    if (last) last.acts = [...acts];
    const target = temporaryHome().path;
    leaveBehind(folder, target);
    kills.push({ folder: target, acts: [] });
  };
  return {
    kills,
    wrap: (folder) => (store) => ({
      ...store,
      write: (change) => store.write(change).finally(() => remember(folder())),
    }),
    remove: () => {
      for (const { folder } of kills) rmSync(folder, { recursive: true, force: true });
    },
  };
}
