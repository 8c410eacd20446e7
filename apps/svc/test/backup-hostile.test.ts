// A restore that believes its archive: paths that lead out of it, links, bombs, a bit that is not what it was.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix, win32 } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Home, homeOf } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { SCHEMA_VERSION } from "@svc/store";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { cases } from "@svc/cases";
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  jsonValue,
  nat,
  oneof,
  pre,
  property,
  record,
  string,
} from "fast-check";
import { packTar, type TarEntry } from "modern-tar";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isBackupPath, parseManifest } from "../src/backup/manifest.ts";
import { prepareRestore } from "../src/backup/prepare-restore.ts";
import { backUp, filesBelow, fillHome } from "./backup-fixture.ts";

let folder: TemporaryHome;
let home: Home;
beforeEach(() => {
  folder = temporaryHome();
  home = homeOf({ SVC_HOME: join(folder.path, "home") });
});
afterEach(() => folder.remove());

const archive = (): string => join(folder.path, "backup.tar.gz");

function unpacksTo(bytes: Buffer, contents: Buffer): boolean {
  try {
    return gunzipSync(bytes).equals(contents);
  } catch {
    return false;
  }
}

describe("an archive that is not what it should be", () => {
  const database = (): Buffer => readFileSync(home.database);
  const file = (path: string, body: string | Buffer, more: Partial<TarEntry["header"]> = {}): TarEntry => {
    const bytes = Buffer.from(body as string);
    return { header: { name: path, size: bytes.length, type: "file", ...more }, body: bytes };
  };
  const listed = (entries: readonly TarEntry[]) =>
    entries.map(({ header, body }) => ({
      path: header.name,
      size: header.size,
      sha256: createHash("sha256")
        .update(body as Buffer)
        .digest("hex"),
    }));

  /** With a manifest that names the entries, unless it says otherwise. */
  async function archiveOf(entries: readonly TarEntry[], manifest: object = {}, packed = entries): Promise<void> {
    const text = JSON.stringify({
      format: 1,
      svc_version: "1.2.3",
      schema_version: SCHEMA_VERSION,
      created_at: "2026-01-01T00:00:00.000Z",
      files: listed(entries),
      ...manifest,
    });
    writeFileSync(archive(), gzipSync(await packTar([file("manifest.json", text), ...packed])));
  }

  /** Refused, with everything as it was; resolves with the error. */
  async function refused(): Promise<{ code: string; message: string }> {
    const before = { inside: filesBelow(home.root), beside: readdirSync(folder.path) };
    const error: unknown = await prepareRestore(home, archive(), { clock: systemClock }).then(
      (prepared) => prepared[Symbol.dispose](),
      (reason: unknown) => reason,
    );
    expect({ inside: filesBelow(home.root), beside: readdirSync(folder.path) }).toEqual(before);
    expect(error).toBeInstanceOf(Error);
    return error as Error & { code: string };
  }
  /** A sound database, with what `statement` adds. */
  const featureDatabase = (statement = ""): Buffer => {
    const db = new DatabaseSync(":memory:");
    db.exec(`CREATE TABLE t (v TEXT); ${statement}`);
    const bytes = Buffer.from(db.serialize());
    db.close();
    return bytes;
  };
  const config = file("config.toml", "");
  const noDatabase = { schema_version: null };

  beforeEach(() => fillHome(home, "old"));

  test("a sound one made the same way is taken", async () => {
    await archiveOf([config, file("state/svc.db", database())]);
    using prepared = await prepareRestore(home, archive(), { clock: systemClock });
    expect(prepared.applied()).toBe(false);
  });

  test("a feature's database is looked at before anything is touched", async () => {
    const svc = file("state/svc.db", database());
    const trigger = "CREATE TRIGGER own AFTER INSERT ON t BEGIN DELETE FROM t; END";
    for (const bytes of [
      featureDatabase(trigger),
      featureDatabase().subarray(0, 4000),
      Buffer.from("x".repeat(9000)),
    ]) {
      await archiveOf([svc, file("state/features/channel-a.db", bytes)], { format: 2 });
      expect(await refused()).toMatchObject({ code: "BACKUP_INVALID" });
    }
    // Without the database that holds its key it is of no use.
    await archiveOf([file("state/features/channel-a.db", featureDatabase())], { ...noDatabase, format: 2 });
    expect(await refused()).toMatchObject({ code: "BACKUP_INVALID" });
    await archiveOf([svc, file("state/features/channel-a.db", featureDatabase())], { format: 2 });
    using prepared = await prepareRestore(home, archive(), { clock: systemClock });
    expect(prepared.applied()).toBe(false);
  });

  test.each([
    "../config.toml",
    "/etc/passwd",
    "workspace/../config.toml",
    "workspace/a/../../../x",
    "workspace//x",
    "workspace/./x",
    "workspace/",
    "workspace",
    "workspace/a\\..\\..\\x",
    "workspace/C:x",
    "workspace/a\0b",
    "run/lock",
    "state/svc.db-wal",
    "state/features/channel-a.db-wal",
    "state/features/../svc.db-wal",
    "state/features/a/b.db",
    "state/features/.db",
    "state/features",
    "state/../config.toml",
    "config.toml/",
    ".bashrc",
    `workspace/${"a".repeat(256)}`,
    `workspace${"/a".repeat(2050)}`,
  ])("with a path that leads elsewhere (number %#)", async (path) => {
    const entry = file("workspace/x", "x");
    const [list] = listed([entry]);
    await archiveOf([], { ...noDatabase, files: [{ ...list, path }] }, [
      { ...entry, header: { ...entry.header, name: path } },
    ]);
    expect((await refused()).code).toBe("BACKUP_INVALID");
    expect(isBackupPath(path)).toBe(false);
  });

  test.each([
    ["a symbolic link", file("workspace/x", "", { type: "symlink", linkname: "/etc/passwd" })],
    ["a hard link", file("workspace/x", "", { type: "link", linkname: "../config.toml" })],
    ["a folder", file("workspace/x", "", { type: "directory" })],
    ["a pipe", file("workspace/x", "", { type: "fifo" })],
    ["a device", file("workspace/x", "", { type: "character-device" })],
  ])("which holds %s where a file was promised", async (_, entry) => {
    await archiveOf([entry], noDatabase);
    expect((await refused()).code).toBe("BACKUP_INVALID");
  });

  test("whose link and file of one name would write through the link", async () => {
    const target = file("workspace/x/y", "owned");
    const link = file("workspace/x", "", { type: "symlink", linkname: folder.path });
    await archiveOf([target], noDatabase, [link, target]);
    expect((await refused()).code).toBe("BACKUP_INVALID");
    expect(existsSync(join(folder.path, "y"))).toBe(false);
  });

  test.each<[string, () => Promise<void>]>([
    ["that lacks a file", () => archiveOf([config, file("workspace/x", "x")], noDatabase, [config])],
    ["with a file too many", () => archiveOf([config], noDatabase, [config, file("workspace/x", "x")])],
    ["with a file twice", () => archiveOf([config], noDatabase, [config, config])],
    ["that lists a file twice", () => archiveOf([config, config], noDatabase)],
    ["with other bytes", () => archiveOf([file("workspace/x", "one")], noDatabase, [file("workspace/x", "two")])],
    ["with another size", () => archiveOf([file("workspace/x", "one")], noDatabase, [file("workspace/x", "ones")])],
    [
      "with a file that is a folder too",
      () => archiveOf([file("workspace/x", "1"), file("workspace/x/y", "2")], noDatabase),
    ],
    ["without a database that it promised", () => archiveOf([config])],
    [
      "with a database that it did not promise",
      () => archiveOf([config, file("state/svc.db", database())], noDatabase),
    ],
    ["with another schema than it says", () => archiveOf([file("state/svc.db", database())], { schema_version: 1 })],
    ["with a text for a database", () => archiveOf([file("state/svc.db", "no database".repeat(1000))])],
    ["with an empty database", () => archiveOf([file("state/svc.db", "")])],
    ["with a huge key", () => archiveOf([file(".secret_key", "x".repeat(5000))], noDatabase)],
    ["of a newer svc", () => archiveOf([config], { format: 2 })],
    ["with more in its list than it may", () => archiveOf([config], { ...noDatabase, hook: "rm -rf /" })],
    [
      "with sizes that are none",
      () => archiveOf([config], { ...noDatabase, files: [{ ...listed([config])[0], size: -1 }] }),
    ],
    ["that begins with something else", async () => writeFileSync(archive(), gzipSync(await packTar([config])))],
    ["that is empty", async () => writeFileSync(archive(), gzipSync(await packTar([])))],
    ["that is no tar", async () => writeFileSync(archive(), gzipSync("hello".repeat(1000)))],
    ["that is no gzip", async () => writeFileSync(archive(), "hello".repeat(1000))],
    ["of no bytes", async () => writeFileSync(archive(), "")],
    ["that is a folder", async () => mkdirSync(archive())],
    ["that is not there", async () => {}],
  ])("one %s", async (_, make) => {
    await make();
    expect((await refused()).code).toBe("BACKUP_INVALID");
  });

  test("whatever a path is made of, one that is taken leads into its own folder, on every system", () => {
    const part = oneof(constantFrom("..", ".", "", "/", "\\", ":", "C:", "workspace", "state", "\0", "a"), string());
    assert(
      property(array(part, { maxLength: 8 }), constantFrom("", "/"), (parts, between) => {
        const path = `workspace/${parts.join(between)}`;
        pre(isBackupPath(path));
        expect(posix.resolve("/base", path).startsWith("/base/workspace/")).toBe(true);
        expect(win32.resolve("C:\\base", path).startsWith("C:\\base\\workspace\\")).toBe(true);
      }),
    );
  });

  test("whatever its list of files is, it is read or refused as such", () => {
    const like = record(
      { format: constantFrom(1, 2, "1"), files: array(record({ path: string(), size: nat(), sha256: string() })) },
      { requiredKeys: [] },
    );
    assert(
      property(oneof(jsonValue(), like, string()), (value) => {
        expect(() => parseManifest(typeof value === "string" ? value : JSON.stringify(value))).toThrow(
          expect.objectContaining({ code: "BACKUP_INVALID" }),
        );
      }),
    );
  });

  test("a database with a trigger that svc never made", async () => {
    const db = new DatabaseSync(home.database);
    db.exec("CREATE TRIGGER t AFTER INSERT ON turns BEGIN DELETE FROM devices; END");
    db.close();
    await archiveOf([file("state/svc.db", database())]);
    expect((await refused()).code).toBe("BACKUP_INVALID");
  });

  test("a database that is newer than this build", async () => {
    const db = new DatabaseSync(home.database);
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    db.close();
    await archiveOf([file("state/svc.db", database())], { schema_version: SCHEMA_VERSION + 1 });
    expect((await refused()).code).toBe("STORE_NEWER");
  });

  test("a bomb: promises more than the disk has", async () => {
    await archiveOf([], { ...noDatabase, files: [{ ...listed([config])[0], path: "workspace/x", size: 2 ** 52 }] });
    expect((await refused()).code).toBe("STORE_FULL");
  });

  test("a bomb: a megabyte that unpacks to a gigabyte of nothing", async () => {
    const plain = await packTar([config]);
    const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
    writeFileSync(archive(), Buffer.concat([gzipSync(plain), ...Array.from({ length: 16 }, () => zeros)]));
    expect((await refused()).code).toBe("BACKUP_INVALID");
    await archiveOf([config], noDatabase);
    const sound = gunzipSync(readFileSync(archive()));
    writeFileSync(archive(), Buffer.concat([gzipSync(sound), ...Array.from({ length: 16 }, () => zeros)]));
    expect((await refused()).message).toContain("larger than it says");
  });

  test("cut off anywhere, or with any bit flipped that says anything, it is refused", async () => {
    await backUp(home, archive());
    const whole = readFileSync(archive());
    const contents = gunzipSync(whole);
    await assert(
      asyncProperty(nat(whole.length - 1), integer({ min: 0, max: 8 }), async (at, bit) => {
        const bytes = Buffer.from(bit === 8 ? whole.subarray(0, at) : whole);
        if (bit < 8) bytes[at]! ^= 1 << bit;
        // gzip keeps the time in its header and has bits to fill up the last byte: those say nothing.
        pre(!unpacksTo(bytes, contents));
        writeFileSync(archive(), bytes);
        expect((await refused()).code).toBe("BACKUP_INVALID");
      }),
      { numRuns: cases(150) },
    );
  });

  test("its words hold nothing of what was in it", async () => {
    await archiveOf([file("workspace/hunter2", "hunter2")], noDatabase, [file("workspace/hunter2", "hunter3")]);
    expect(JSON.stringify(await refused())).not.toContain("hunter");
  });
});
