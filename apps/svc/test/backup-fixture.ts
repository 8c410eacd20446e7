/** Shared by the tests of backups: homes with a mark in every part, and what is in them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Home } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { copyDatabase, openStore } from "@svc/store";
import { type BackupReport, makeBackup } from "../src/backup/make-backup.ts";

export const put = (file: string, text: string): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** Every file below `root` with its text, but for what a lock or a log of a database leaves. */
export function filesBelow(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const named = files.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return Object.fromEntries(
    named.filter((name) => !name.startsWith("run/")).map((name) => [name, readFileSync(join(root, name), "latin1")]),
  );
}

/** A home with a database that holds `mark`. */
export function fillHome(target: Home, mark: string): void {
  put(target.config, `# ${mark}\n`);
  put(target.secretKey, mark);
  put(join(target.workspace, "deep/er/note.txt"), mark);
  const idempotency = { ttlMs: 1, maxKeys: 1 };
  openStore({ file: target.database, clock: systemClock, idempotency }).close();
  const db = new DatabaseSync(target.database);
  db.prepare("INSERT INTO meta VALUES ('mark', ?)").run(mark);
  db.close();
}

export const markOf = ({ database }: Home): unknown => {
  const db = new DatabaseSync(database);
  try {
    return (db.prepare("SELECT value FROM meta WHERE key = 'mark'").get() as { value: string }).value;
  } finally {
    db.close();
  }
};

/** With the workspace. */
export function backUp(from: Home, target: string): Promise<BackupReport> {
  return makeBackup(from, {
    target,
    withKey: true,
    workspace: true,
    copyDatabase: (to) => copyDatabase(from.database, to),
    svcVersion: "1.2.3",
    clock: systemClock,
  });
}
