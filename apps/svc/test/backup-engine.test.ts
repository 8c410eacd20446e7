// A backup that does not fit together, and a restore that is killed half-way and leaves neither the old home nor the new.
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { type Home, homeOf } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { copyHome } from "../src/backup/make-backup.ts";
import { prepareRestore } from "../src/backup/prepare-restore.ts";
import { finishSwap, journalFile, keptFolder, swapIn, swapSteps, take } from "../src/backup/swap.ts";
import { backUp, filesBelow, fillHome, markOf, put } from "./backup-fixture.ts";

let folder: TemporaryHome;
let home: Home;
beforeEach(() => {
  folder = temporaryHome();
  home = homeOf({ SVC_HOME: join(folder.path, "home") });
});
afterEach(() => folder.remove());

const archive = (): string => join(folder.path, "backup.tar.gz");

describe("a backup", () => {
  test("comes back whole: config, key, database and workspace, with what may be run", async () => {
    fillHome(home, "old");
    writeFileSync(join(home.workspace, "run.sh"), "#!/bin/sh", { mode: 0o755 });
    await backUp(home, archive());
    expect(statSync(archive()).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path).toSorted()).toEqual(["backup.tar.gz", "home"]);
    const other = homeOf({ SVC_HOME: join(folder.path, "other") });
    using restore = await prepareRestore(other, archive(), { clock: systemClock });
    restore.apply();
    expect(markOf(other)).toBe("old");
    expect(readFileSync(other.secretKey, "utf8")).toBe("old");
    expect(readFileSync(join(other.workspace, "deep/er/note.txt"), "utf8")).toBe("old");
    expect(statSync(join(other.workspace, "run.sh")).mode & 0o777).toBe(0o700);
    expect(statSync(other.config).mode & 0o777).toBe(0o600);
    expect(restore.previous()).toBeUndefined();
    expect(readdirSync(other.root).toSorted()).toEqual([".secret_key", "config.toml", "run", "state", "workspace"]);
  });

  test("holds no link's target, and says how much it left out", async () => {
    fillHome(home, "old");
    put(join(folder.path, "outside"), "secret of the machine");
    symlinkSync(join(folder.path, "outside"), join(home.workspace, "link"));
    symlinkSync(folder.path, join(home.workspace, "folder"));
    writeFileSync(join(home.workspace, "odd\\name"), "");
    expect(await backUp(home, archive())).toMatchObject({ leftOut: 3 });
    expect(gunzipSync(readFileSync(archive())).includes("secret of the machine")).toBe(false);
  });

  test("made in the workspace does not hold itself", async () => {
    fillHome(home, "old");
    const target = join(home.workspace, "deep", "b.tar.gz");
    const { manifest } = await backUp(home, target);
    expect(manifest.files.map(({ path }) => path)).toEqual([
      ".secret_key",
      "config.toml",
      "state/svc.db",
      "workspace/deep/er/note.txt",
    ]);
  });

  test("never takes the place of another file", async () => {
    fillHome(home, "old");
    writeFileSync(archive(), "precious");
    await expect(backUp(home, archive())).rejects.toMatchObject({ code: "BACKUP_FAILED" });
    expect(readFileSync(archive(), "utf8")).toBe("precious");
  });

  test("of a damaged database is refused now, and not when it is needed", async () => {
    fillHome(home, "old");
    const db = new DatabaseSync(home.database);
    db.exec(`INSERT INTO sessions (n, id, client_id, name, created_at, updated_at, turns, last_turn)
      VALUES (1, 'a', 'b', 'c', 1, 1, 1, 99)`);
    db.close();
    await expect(backUp(home, archive())).rejects.toMatchObject({ code: "BACKUP_FAILED" });
    expect(readdirSync(folder.path)).toEqual(["home"]);
  });

  test("is not put back for a home that another user runs: nobody but root could read it then", async () => {
    fillHome(home, "old");
    await backUp(home, archive());
    const getuid = vi.spyOn(process, "getuid").mockReturnValue(statSync(home.database).uid + 1);
    await expect(prepareRestore(home, archive(), { clock: systemClock })).rejects.toMatchObject({
      code: "HOME_UNWRITABLE",
    });
    getuid.mockRestore();
    expect(readdirSync(home.root)).not.toContain("run");
  });

  test("begins anew when the keys change meanwhile: never the key of one moment and the secrets of another", async () => {
    fillHome(home, "old");
    let copies = 0;
    const copying = join(folder.path, "copy");
    await copyHome(home, copying, {
      withKey: true,
      workspace: false,
      copyDatabase: async (to) => {
        writeFileSync(to, "");
        if ((copies += 1) === 1) writeFileSync(home.secretKey, "rotated");
      },
    });
    expect([copies, readFileSync(join(copying, ".secret_key"), "utf8")]).toEqual([2, "rotated"]);
  });
});

describe("killed while files change places", () => {
  const RESTORED = "restore-20260101T000000Z";
  const old = {
    ".secret_key": "old key",
    ".secret_key.next": "old next key",
    "config.toml": "old config",
    "state/svc.db": "old db",
    "state/svc.db-wal": "old log",
    "state/features/channel-a.db": "old db of a feature",
    "state/features/channel-a.db-wal": "old log of a feature",
    "workspace/a/b": "old file",
  };
  const restored = {
    ".secret_key": "new key",
    "config.toml": "new config",
    "state/svc.db": "new db",
    "state/features/channel-b.db": "new db of a feature",
    "workspace/c": "new file",
  };

  function begin(newOnes: Readonly<Record<string, string>> = restored): void {
    for (const [path, text] of Object.entries(old)) put(join(home.root, path), text);
    put(join(home.root, "logs/log"), "stays");
    for (const [path, text] of Object.entries(newOnes)) put(join(home.root, RESTORED, path), text);
    put(join(home.root, RESTORED, "manifest.json"), "{}");
  }
  const finished = (newOnes: Readonly<Record<string, string>> = restored): Record<string, string> => ({
    ...newOnes,
    "logs/log": "stays",
    ...Object.fromEntries(Object.entries(old).map(([path, text]) => [`${keptFolder(RESTORED)}/${path}`, text])),
  });
  const STEPS = 12;

  test.each(Array.from({ length: STEPS + 1 }, (_, n) => n))(
    "after %i renames: the next start has the new home whole",
    (n) => {
      begin();
      writeFileSync(journalFile(home.root), JSON.stringify({ format: 1, folder: RESTORED }));
      const steps = swapSteps(home.root, RESTORED);
      let taken = 0;
      for (; taken < n; taken += 1) {
        const { done, value } = steps.next();
        if (done) break;
        take(value);
      }
      expect(taken).toBe(Math.min(n, STEPS));
      finishSwap(home.root);
      expect(filesBelow(home.root)).toEqual(finished());
      finishSwap(home.root);
      expect(filesBelow(home.root)).toEqual(finished());
    },
  );

  test("before the journal: the old home is whole", () => {
    begin();
    finishSwap(home.root);
    expect(filesBelow(home.root)).toMatchObject(old);
  });

  test("a key that is being replaced comes back with its successor", () => {
    const both = { ...restored, ".secret_key.next": "new next key" };
    begin(both);
    swapIn(home.root, RESTORED);
    expect(filesBelow(home.root)).toEqual(finished(both));
  });

  test("a config that somebody made anew in between is kept beside the old one", () => {
    begin();
    writeFileSync(journalFile(home.root), JSON.stringify({ format: 1, folder: RESTORED }));
    for (const step of swapSteps(home.root, RESTORED)) {
      take(step);
      if (step.from === home.config) break;
    }
    writeFileSync(home.config, "made meanwhile");
    finishSwap(home.root);
    const kept = `${keptFolder(RESTORED)}/config.toml`;
    expect(filesBelow(home.root)).toEqual({ ...finished(), [`${kept}.2`]: "made meanwhile" });
  });

  test("what can't be put in place leaves everything where it was", () => {
    begin();
    // Where the old database would go: its folder can't be made.
    put(join(home.root, keptFolder(RESTORED), "state"), "in the way");
    expect(() => swapIn(home.root, RESTORED)).toThrow(expect.objectContaining({ code: "HOME_UNWRITABLE" }));
    const files = filesBelow(home.root);
    expect(files).toMatchObject({ ...old, "logs/log": "stays" });
    expect(files["restore.json"]).toBeUndefined();
  });

  test("a journal that can't be read is said, and nothing is moved", () => {
    begin();
    for (const text of ["", "{", '{"format":2}', '{"format":1,"folder":"../x"}', '{"format":1,"folder":"workspace"}']) {
      writeFileSync(journalFile(home.root), text);
      expect(() => finishSwap(home.root)).toThrow(expect.objectContaining({ code: "HOME_UNWRITABLE" }));
    }
    expect(filesBelow(home.root)).toMatchObject(old);
  });
});
