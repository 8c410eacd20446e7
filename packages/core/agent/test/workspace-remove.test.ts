// Removing as a way out of the workspace: through a symlink, or one that is put there while it is looked at.
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Workspace } from "@svc/contract";
import { openWorkspace, type WorkspaceOptions } from "../src/workspace/index.ts";
import { openByDescriptor, openByPath } from "@svc/kit/files";

const openers = process.platform === "linux" ? { openByDescriptor, openByPath } : { openByPath };

describe.each(Object.entries(openers))("%s", (_, opener) => {
  let home: ReturnType<typeof temporaryHome>;
  let room: string;
  let root: string;
  const open = (more: Partial<WorkspaceOptions> = {}): Promise<Workspace> =>
    openWorkspace(root, { forbiddenPaths: [], hidden: [join(room, "home")], workspaceOnly: true, opener, ...more });

  beforeEach(async () => {
    home = temporaryHome();
    room = await fs.realpath(home.path);
    root = join(room, "home/workspace");
    await fs.mkdir(join(root, "sub"), { recursive: true });
    await fs.mkdir(join(room, "outside"));
    for (const file of ["outside/secret", "home/key", "home/workspace/in.txt"])
      await fs.writeFile(join(room, file), file);
  });
  afterEach(() => home.remove());

  test("files and empty folders go, and it is told whether they were there", async () => {
    const workspace = await open();
    await fs.writeFile(join(root, "sub/full"), "");
    await fs.mkdir(join(root, "empty"));
    expect([await workspace.remove("in.txt"), await workspace.remove("in.txt")]).toEqual([true, false]);
    expect([await workspace.remove("empty"), await workspace.remove("no/such/file")]).toEqual([true, false]);
    for (const path of ["sub", "", ".", root]) {
      await expect(workspace.remove(path)).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
    }
    const forbids = [
      [await open({ forbiddenPaths: ["sub"] }), "sub/full"],
      [await open({ workspaceOnly: false }), join(room, "home/key")],
    ] as const;
    for (const [guarded, path] of forbids) {
      await expect(guarded.remove(path)).rejects.toMatchObject({ code: "PATH_FORBIDDEN" });
    }
    expect((await fs.readdir(root, { recursive: true })).toSorted()).toEqual(["sub", "sub/full"]);
  });

  test("nothing goes through a symlink, nor a symlink, and of a hard link one name", async () => {
    const workspace = await open();
    await fs.mkdir(join(root, "real/deep"), { recursive: true });
    await fs.writeFile(join(root, "real/deep/x"), "");
    await fs.symlink("real", join(root, "inside"));
    await fs.symlink("in.txt", join(root, "link"));
    await fs.symlink(join(room, "outside"), join(root, "out"));
    await fs.link(join(room, "outside/secret"), join(root, "hard"));
    for (const [path, code] of [
      ["inside/deep/x", "PATH_FORBIDDEN"],
      ["inside/deep", "PATH_FORBIDDEN"],
      ["out/secret", "PATH_FORBIDDEN"],
      ["inside", "TOOL_BAD_INPUT"],
      ["link", "TOOL_BAD_INPUT"],
    ] as const) {
      await expect(workspace.remove(path)).rejects.toMatchObject({ code });
    }
    expect(await workspace.remove("hard")).toBe(true);
    expect(await fs.readdir(join(room, "outside"))).toEqual(["secret"]);
    expect(await fs.readdir(join(root, "real/deep"))).toEqual(["x"]);
    expect(await fs.readdir(root)).toContain("in.txt");
  });
});

test("a folder that is swapped for a symlink meanwhile leads nowhere", async (context) => {
  context.skip(process.platform !== "linux", "elsewhere the race is narrowed, not closed");
  using home = temporaryHome();
  const root = join(await fs.realpath(home.path), "desk");
  const outside = join(home.path, "outside");
  await fs.mkdir(join(root, "media"), { recursive: true });
  await fs.mkdir(outside);
  await fs.writeFile(join(outside, "x"), "");
  const swapped = async (): Promise<void> => {
    await fs.rename(join(root, "media"), join(root, "aside"));
    await fs.symlink(outside, join(root, "media"));
  };
  const opener: typeof openByDescriptor = async (path) => {
    const opened = await openByDescriptor(path);
    if (path.endsWith("media")) await swapped();
    return opened;
  };
  await fs.writeFile(join(root, "media/x"), "");
  const workspace = await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true, opener });
  await workspace.remove("media/x").catch(() => undefined);
  expect(await fs.readdir(outside)).toEqual(["x"]);
});
