// Databases that features keep beside svc's own: a backup has them, each whole and no older than svc's, and a restore puts them
// back together with the database that holds their keys, or not at all.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Home, homeOf } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyHome } from "../src/backup/make-backup.ts";
import { prepareRestore } from "../src/backup/prepare-restore.ts";
import { backUp, fillHome, markOf } from "./backup-fixture.ts";

let folder: TemporaryHome;
let home: Home;
let open: DatabaseSync[];
beforeEach(() => {
  folder = temporaryHome();
  home = homeOf({ SVC_HOME: join(folder.path, "home") });
  open = [];
  fillHome(home, "old");
});
afterEach(() => {
  for (const db of open) db.close();
  folder.remove();
});

const archive = (): string => join(folder.path, "backup.tar.gz");
const fileOf = ({ root }: Home, name: string): string => join(root, "state", "features", name);

/** Left open, with what was written in its log. */
function featureDatabase(at: Home, name: string, value: string): DatabaseSync {
  mkdirSync(dirname(fileOf(at, name)), { recursive: true });
  const db = new DatabaseSync(fileOf(at, name));
  open.push(db);
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (v TEXT)");
  db.prepare("INSERT INTO t VALUES (?)").run(value);
  return db;
}

function valueIn(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db.prepare("SELECT v FROM t").get()?.["v"];
  } finally {
    db.close();
  }
}

async function restoreInto(at: Home): Promise<string | undefined> {
  using restore = await prepareRestore(at, archive(), { clock: systemClock });
  restore.apply();
  return restore.previous();
}

test("come back as they were, with what was still in their logs", async () => {
  featureDatabase(home, "channel-a.db", "a");
  featureDatabase(home, "channel-b.db", "b");
  writeFileSync(fileOf(home, "notes.txt"), "no database");
  const { manifest } = await backUp(home, archive());
  expect(manifest.files.map(({ path }) => path).filter((path) => path.startsWith("state/"))).toEqual([
    "state/features/channel-a.db",
    "state/features/channel-b.db",
    "state/svc.db",
  ]);
  const other = homeOf({ SVC_HOME: join(folder.path, "other") });
  await restoreInto(other);
  expect([valueIn(fileOf(other, "channel-a.db")), valueIn(fileOf(other, "channel-b.db"))]).toEqual(["a", "b"]);
  expect(readdirSync(dirname(fileOf(other, "")))).toEqual(["features", "svc.db"]);
});

test.each([
  ["with others", true],
  ["without any", false],
])("of the home before a restore go with its database: a backup %s", async (_name, has) => {
  if (has) featureDatabase(home, "channel-b.db", "restored");
  await backUp(home, archive());
  const other = homeOf({ SVC_HOME: join(folder.path, "other") });
  fillHome(other, "other");
  featureDatabase(other, "channel-a.db", "before");
  const kept = await restoreInto(other);
  expect(markOf(other)).toBe("old");
  expect(existsSync(fileOf(other, "channel-b.db"))).toBe(has);
  expect(existsSync(fileOf(other, "channel-a.db"))).toBe(false);
  expect(valueIn(join(kept!, "state", "features", "channel-a.db"))).toBe("before");
});

test("an older svc is told that it is too old, only where there are some", async () => {
  expect((await backUp(home, archive())).manifest.format).toBe(1);
  featureDatabase(home, "channel-a.db", "a");
  expect((await backUp(home, `${archive()}.2`)).manifest.format).toBe(2);
});

test("are copied behind the database, and one that comes to be meanwhile begins the copy anew", async () => {
  let copies = 0;
  const copying = join(folder.path, "copy");
  await copyHome(home, copying, {
    withKey: true,
    workspace: false,
    copyDatabase: async (to) => {
      writeFileSync(to, `copy ${(copies += 1)}`);
      if (copies === 1) featureDatabase(home, "channel-a.db", "made meanwhile");
    },
  });
  expect(readFileSync(join(copying, "state/svc.db"), "utf8")).toBe("copy 2");
  expect(valueIn(join(copying, "state/features/channel-a.db"))).toBe("made meanwhile");
});

test("fail the backup when one is damaged or has a trigger, which svc never makes", async () => {
  const db = featureDatabase(home, "channel-a.db", "a");
  db.exec("CREATE TRIGGER own AFTER INSERT ON t BEGIN DELETE FROM t; END");
  await expect(backUp(home, archive())).rejects.toMatchObject({
    code: "BACKUP_FAILED",
    message: expect.stringContaining("state/features/channel-a.db is damaged"),
  });
  db.exec("DROP TRIGGER own");
  await backUp(home, archive());
  writeFileSync(fileOf(home, "channel-b.db"), "x".repeat(9000));
  await expect(backUp(home, `${archive()}.2`)).rejects.toMatchObject({ code: "BACKUP_FAILED" });
});
