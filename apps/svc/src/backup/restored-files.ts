/** Restored files that wait in a folder of the home for the moment when nobody has it open. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "@svc/config";
import { damaged, type Manifest, MANIFEST, parseManifest } from "./manifest.ts";
import { isRestoreFolder, keptFolder, swapIn } from "./swap.ts";

export interface RestoredFiles {
  readonly manifest: Manifest;
  /** Name of their folder. */
  readonly folder: string;
  /** Puts them in place. Only with the home's lock, and nothing of it open. Throws HOME_UNWRITABLE. */
  apply(): void;
  /** Whether they have left for their places. */
  applied(): boolean;
  /** Where what was there before is now; undefined when there was nothing. */
  kept(): string | undefined;
}

/** Throws BACKUP_INVALID when there are none of this name, or not all of them. */
export function restoredFiles({ root }: Pick<Home, "root">, folder: string): RestoredFiles {
  const marker = join(root, folder, MANIFEST);
  const demand = (): void => {
    if (!isRestoreFolder(folder) || !existsSync(marker)) throw damaged("its unpacked files are gone");
  };
  demand();
  const kept = join(root, keptFolder(folder));
  return {
    manifest: parseManifest(readFileSync(marker, "utf8")),
    folder,
    apply: () => {
      demand();
      swapIn(root, folder);
    },
    applied: () => !existsSync(marker),
    kept: () => (existsSync(kept) ? kept : undefined),
  };
}
