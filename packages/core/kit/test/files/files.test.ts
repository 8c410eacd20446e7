// Trees as commands and other users leave them: deep, closed, full of links. What happens while they are swapped is tried in
// packages/tooling/testkit/test/file-races.e2e.test.ts.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  copyTree,
  type Opener,
  isPrivateFolder,
  makeFolderIn,
  makeScratch,
  openByDescriptor,
  openByPath,
  openPath,
  removePath,
  removeTree,
} from "../../src/files/index.ts";

let room: string;

beforeEach(() => {
  room = realpathSync(mkdtempSync(join(tmpdir(), "svc-files-")));
  mkdirSync(join(room, "outside"));
  writeFileSync(join(room, "outside", "kept"), "kept");
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

const openers: [string, Opener][] = [
  ...(process.platform === "linux" ? [["descriptor", openByDescriptor] as [string, Opener]] : []),
  ["path", openByPath],
];

describe.each(openers)("by %s", (_name, open) => {
  test("a tree is removed with all in it; links are removed, their targets stay", async () => {
    mkdirSync(join(room, "tree/a/b"), { recursive: true });
    writeFileSync(join(room, "tree/a/b/file"), "");
    symlinkSync(join(room, "outside"), join(room, "tree/a/folder"));
    symlinkSync(join(room, "outside/kept"), join(room, "tree/file"));
    symlinkSync("nowhere", join(room, "tree/broken"));
    await using folder = await open(room);
    expect(await removeTree(folder, "tree")).toBe(true);
    expect(readdirSync(room)).toEqual(["outside"]);
    expect(readFileSync(join(room, "outside/kept"), "utf8")).toBe("kept");
  });

  test("a link is removed itself", async () => {
    symlinkSync(join(room, "outside"), join(room, "link"));
    await using folder = await open(room);
    expect(await removeTree(folder, "link")).toBe(true);
    expect(existsSync(join(room, "outside/kept"))).toBe(true);
  });

  test("an entry that is not there counts as removed", async () => {
    await using folder = await open(room);
    expect(await removeTree(folder, "nothing")).toBe(true);
  });

  test.each(["", ".", "..", "a/b", "/etc", "a\0b"])("%j is no name of an entry", async (name) => {
    await using folder = await open(room);
    await expect(removeTree(folder, name)).resolves.toBe(false);
    await expect((async () => makeFolderIn(folder, name))()).rejects.toMatchObject({ code: "PATH_FORBIDDEN" });
    expect(existsSync(join(room, "outside/kept"))).toBe(true);
  });

  test("a copy has folders and files, and counts what it leaves out", async () => {
    mkdirSync(join(room, "tree/a"), { recursive: true });
    writeFileSync(join(room, "tree/a/file"), "text", { mode: 0o640 });
    writeFileSync(join(room, "tree/odd"), "");
    writeFileSync(join(room, "tree/passed over"), "");
    symlinkSync(join(room, "outside"), join(room, "tree/link"));
    await using from = await open(join(room, "tree"));
    const options = { takesName: (name: string) => name !== "odd", skips: (path: string) => path.endsWith("over") };
    expect(await copyTree(from, join(room, "copy"), options)).toBe(2);
    expect(readdirSync(join(room, "copy"), { recursive: true }).toSorted()).toEqual(["a", join("a", "file")]);
    expect(readFileSync(join(room, "copy/a/file"), "utf8")).toBe("text");
  });

  test("a folder is made where there is no entry, and nowhere else", async () => {
    symlinkSync(join(room, "new"), join(room, "dangling"));
    await using folder = await open(room);
    expect(await makeFolderIn(folder, "made")).toBe(true);
    expect(await makeFolderIn(folder, "made")).toBe(false);
    expect(await makeFolderIn(folder, "dangling")).toBe(false);
    expect(existsSync(join(room, "new"))).toBe(false);
  });
});

test("a tree whose depth exceeds descriptors and paths is removed", async () => {
  // Joined from pieces: no path is longer than the system takes.
  let tree = join(room, "piece");
  mkdirSync(tree);
  for (let piece = 0; piece < 12; piece += 1) {
    const top = join(room, `top-${piece}`);
    let deep = top;
    for (let level = 0; level < 100; level += 1) deep = join(deep, "n".repeat(15));
    mkdirSync(deep, { recursive: true });
    renameSync(tree, join(deep, "piece"));
    tree = top;
  }
  expect(await removePath(tree)).toBe(true);
  expect(readdirSync(room)).toEqual(["outside"]);
});

test("a command that took its own rights away hinders nothing", async (context) => {
  context.skip(process.platform === "win32", "Windows has no modes of files");
  mkdirSync(join(room, "tree/closed/deeper"), { recursive: true });
  for (const path of ["tree/closed/deeper", "tree/closed", "tree"]) chmodSync(join(room, path), 0);
  expect(await removePath(join(room, "tree"))).toBe(true);
});

describe("a scratch folder", () => {
  test("is ours alone, and goes with the work", async (context) => {
    context.skip(process.platform === "win32", "Windows has no modes of files");
    const scratch = await makeScratch({ prefix: "svc-scratch-", parent: room });
    writeFileSync(join(scratch.path, "file"), "");
    expect(lstatSync(scratch.path).mode & 0o077).toBe(0);
    await scratch.dispose();
    await scratch.dispose();
    expect(existsSync(scratch.path)).toBe(false);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "for another user lies in a folder that only their group can pass, and nobody but root can write",
    { meta: { skipReason: "needs root" } },
    async () => {
      await using scratch = await makeScratch({
        prefix: "svc-scratch-",
        parent: room,
        owner: { uid: 4321, gid: 4322 },
      });
      const [inner, outer] = [lstatSync(scratch.path), lstatSync(join(scratch.path, ".."))];
      expect([inner.uid, inner.gid, inner.mode & 0o777]).toEqual([4321, 4322, 0o700]);
      expect([outer.uid, outer.gid, outer.mode & 0o777]).toEqual([0, 4322, 0o710]);
    },
  );

  test("that can't be emptied of everything still closes its descriptor", async () => {
    const scratch = await makeScratch({ prefix: "svc-scratch-", parent: room });
    rmSync(scratch.path, { recursive: true });
    await expect(scratch.dispose()).resolves.toBeUndefined();
  });
});

describe("a folder is private", () => {
  beforeEach((context) => context.skip(process.platform === "win32", "Windows has no modes of files"));

  test("when only its owner and root may change it and those above", async () => {
    chmodSync(room, 0o700);
    expect(await isPrivateFolder(room)).toBe(true);
    chmodSync(room, 0o755);
    expect(await isPrivateFolder(room)).toBe(true);
  });

  test.each([0o777, 0o775, 0o1777])("but not with mode %o", async (mode) => {
    chmodSync(room, mode);
    expect(await isPrivateFolder(room)).toBe(false);
    mkdirSync(join(room, "below"), { mode: 0o700 });
    // In a sticky folder others can't rename it.
    expect(await isPrivateFolder(join(room, "below"))).toBe(mode === 0o1777);
  });
});

test("a descriptor outlives a swap of its path", async () => {
  await using folder = await openPath(join(room, "outside"));
  renameSync(join(room, "outside"), join(room, "away"));
  mkdirSync(join(room, "outside"));
  writeFileSync(join(room, "outside", "kept"), "another");
  const removed = await removeTree(folder, "kept");
  expect(readFileSync(join(room, "outside", "kept"), "utf8")).toBe("another");
  expect(removed).toBe(process.platform === "linux");
});
