/** Backups that the page had written: only the newest are kept. Files of other names stay. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const KEPT = 5;
const NAME = /^svc-backup-\d{8}T\d{6}Z\.tar\.gz$/;

export function removeOldBackups(folder: string): void {
  const old = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
    .slice(0, -KEPT);
  for (const name of old) rmSync(join(folder, name), { force: true });
}
