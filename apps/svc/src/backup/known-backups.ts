/** The backups that a home knows of: which is the newest, and which of those that the page had written are kept. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Home, replaceFile } from "@svc/config";

export interface LastBackup {
  readonly file: string;
  /** UTC. */
  readonly at: string;
  readonly bytes: number;
}

const fileOf = ({ stateDir }: Pick<Home, "stateDir">): string => join(stateDir, "last-backup.json");

/** A backup is one without this note too. */
export function noteBackup(home: Pick<Home, "stateDir">, { file, at, bytes }: LastBackup): void {
  try {
    replaceFile(fileOf(home), `${JSON.stringify({ file, at, bytes })}\n`);
  } catch {
    // The home can't be written, or has no state yet.
  }
}

/** Undefined: none was made, or the note can't be read. Whether the file is still there, this machine may not be able to tell. */
export function lastBackup(home: Pick<Home, "stateDir">): LastBackup | undefined {
  try {
    const { file, at, bytes } = JSON.parse(readFileSync(fileOf(home), "utf8")) as Partial<LastBackup>;
    const isWhole = typeof file === "string" && typeof at === "string" && Number.isSafeInteger(bytes);
    return isWhole && !Number.isNaN(Date.parse(at))
      ? { file, at: new Date(at).toISOString(), bytes: bytes! }
      : undefined;
  } catch {
    return undefined;
  }
}

const KEPT = 5;
const NAME = /^svc-backup-\d{8}T\d{6}Z\.tar\.gz$/;

/** Of the backups that the page had written only the newest are kept. Files of other names stay. */
export function removeOldBackups(folder: string): void {
  const old = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
    .slice(0, -KEPT);
  for (const name of old) rmSync(join(folder, name), { force: true });
}
