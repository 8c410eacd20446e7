// A daemon of root's: its commands, and the files that it leaves where they work, are somebody else's.
import { chownSync, linkSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { givePath as handOver } from "@svc/kit/files";
import { SANDBOX_USER } from "@svc/kit/process";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { beforeEach, describe, expect, test, type TestContext } from "vitest";
import { commandUser } from "../src/sandbox/command-user.ts";
import { openWorkspace } from "../src/workspace/index.ts";

const needRoot = (context: Pick<TestContext, "skip">): void =>
  context.skip(process.getuid?.() !== 0, "only root gives files away");
const ownerOf = (path: string): string => {
  const { uid, gid } = lstatSync(path);
  return `${uid}:${gid}`;
};
const OURS = `${SANDBOX_USER.uid}:${SANDBOX_USER.gid}`;

test("an ordinary user's commands are its own", async () => {
  expect(await commandUser("/", "/nowhere", 1000)).toEqual({ user: undefined, handsOver: false });
});

describe("root's commands", { meta: { skipReason: "needs root" } }, () => {
  beforeEach(needRoot);

  test("are the workspace's owner's", async () => {
    using home = temporaryHome();
    const workspace = join(home.path, "elsewhere");
    mkdirSync(workspace);
    chownSync(workspace, 1234, 1235);
    expect(await commandUser(workspace, "/nowhere")).toEqual({ user: { uid: 1234, gid: 1235 }, handsOver: false });
    chownSync(workspace, 1234, 0);
    expect(await commandUser(workspace, "/nowhere")).toMatchObject({ user: { uid: 1234, gid: 1234 } });
  });

  test("are nobody else's where the workspace is root's in $SVC_HOME, there or not there yet", async () => {
    using home = temporaryHome();
    const workspace = join(home.path, "workspace");
    const expected = { user: SANDBOX_USER, handsOver: true };
    expect(await commandUser(workspace, home.path)).toEqual(expected);
    mkdirSync(workspace);
    expect(await commandUser(workspace, home.path)).toEqual(expected);
    await handOver(workspace, SANDBOX_USER);
    expect(await commandUser(workspace, home.path)).toEqual({ ...expected, handsOver: false });
  });

  test("have no sandbox where it is root's elsewhere, and the sentence says the chown", async () => {
    using home = temporaryHome();
    for (const place of [home.path, "/", `${home.path}-beside`]) {
      const { user, handsOver, obstacle } = await commandUser(place, home.path);
      expect([user, handsOver, obstacle]).toEqual([
        undefined,
        false,
        expect.stringContaining(`chown -R ${OURS} '${place}'`),
      ]);
    }
  });
});

describe("handing over", { meta: { skipReason: "needs root" } }, () => {
  beforeEach(needRoot);

  test("follows no link, leaves files of others and files with other names, and does the workspace last", async () => {
    using home = temporaryHome();
    const [workspace, outside] = [join(home.path, "workspace"), join(home.path, "outside")];
    mkdirSync(join(workspace, "a", "b"), { recursive: true });
    mkdirSync(outside);
    for (const file of ["a/b/deep", "own", "theirs"]) writeFileSync(join(workspace, file), "x");
    writeFileSync(join(outside, "secret"), "x");
    chownSync(join(workspace, "theirs"), 1234, 1234);
    linkSync(join(outside, "secret"), join(workspace, "hard"));
    symlinkSync(outside, join(workspace, "soft"));
    await handOver(workspace, SANDBOX_USER);
    const owners = ["", "a", "a/b", "a/b/deep", "own", "soft"].map((name) => ownerOf(join(workspace, name)));
    expect(new Set(owners)).toEqual(new Set([OURS]));
    expect(ownerOf(join(workspace, "theirs"))).toBe("1234:1234");
    expect([ownerOf(outside), ownerOf(join(outside, "secret"))]).toEqual(["0:0", "0:0"]);
  });
});

describe("what tools write later", { meta: { skipReason: "needs root" } }, () => {
  beforeEach(needRoot);

  test("belongs to the workspace's owner: files, folders, what is replaced and what is added to", async () => {
    using home = temporaryHome();
    const root = join(home.path, "workspace");
    mkdirSync(root);
    await handOver(root, SANDBOX_USER);
    const workspace = await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true });
    const text = new TextEncoder().encode("x");
    await workspace.write("new/folder/file", text, "replace");
    await workspace.write("new/folder/file", text, "replace");
    await workspace.write("added", text, "append");
    const owners = ["new", "new/folder", "new/folder/file", "added"].map((name) => ownerOf(join(root, name)));
    expect(new Set(owners)).toEqual(new Set([OURS]));
  });

  test("is all there where many calls make the same folders at once", async () => {
    using home = temporaryHome();
    const root = join(home.path, "workspace");
    mkdirSync(root);
    await handOver(root, SANDBOX_USER);
    const workspace = await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true });
    const text = new TextEncoder().encode("x");
    for (let round = 0; round < 20; round += 1) {
      const files = Array.from({ length: 12 }, (_, number) => `${round}/a/b/${number}`);
      await Promise.all(
        files.map((file, index) => workspace.write(file, text, index % 2 === 0 ? "append" : "replace")),
      );
      const owners = [`${round}`, `${round}/a`, `${round}/a/b`, ...files].map((name) => ownerOf(join(root, name)));
      expect(new Set(owners)).toEqual(new Set([OURS]));
    }
  });

  test("outside, where the policy lets it, is root's", async () => {
    using home = temporaryHome();
    const root = join(home.path, "workspace");
    mkdirSync(root);
    await handOver(root, SANDBOX_USER);
    symlinkSync(home.path, join(root, "out"));
    const workspace = await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: false });
    await workspace.write(join(home.path, "beside", "file"), new TextEncoder().encode("x"), "replace");
    expect([ownerOf(join(home.path, "beside")), ownerOf(join(home.path, "beside", "file"))]).toEqual(["0:0", "0:0"]);
  });
});
