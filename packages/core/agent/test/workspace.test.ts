// Files stay inside the workspace: every way out that a path, a symlink or a special file offers, and the rules about
// forbidden and hidden paths. Each case runs with both ways of opening files.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { FillFile, Workspace } from "@svc/contract";
import { openWorkspace, type WorkspaceOptions } from "../src/workspace/index.ts";
import { openByDescriptor, openByPath } from "@svc/kit/files";

const SECRET = "the secret outside";
const bytes = (text: string) => new TextEncoder().encode(text);
const rooms: string[] = [];
afterAll(() => Promise.all(rooms.map((room) => fs.rm(room, { recursive: true, force: true }))));

async function makeRoom(): Promise<string> {
  const room = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "svc-workspace-")));
  rooms.push(room);
  await fs.mkdir(join(room, "home/workspace/sub"), { recursive: true });
  await fs.mkdir(join(room, "outside"));
  await fs.writeFile(join(room, "outside/secret"), SECRET);
  await fs.writeFile(join(room, "outside/never-listed"), "");
  await fs.writeFile(join(room, "home/key"), SECRET);
  await fs.writeFile(join(room, "home/workspace/in.txt"), "inside");
  return room;
}

const openers = process.platform === "linux" ? { openByDescriptor, openByPath } : { openByPath };

describe.each(Object.entries(openers))("%s", (_, opener) => {
  let room: string;
  let root: string;
  const open = (more: Partial<WorkspaceOptions> = {}): Promise<Workspace> =>
    openWorkspace(root, { forbiddenPaths: [], hidden: [join(room, "home")], workspaceOnly: true, opener, ...more });
  const read = async (workspace: Workspace, path: string): Promise<string> =>
    new TextDecoder().decode((await workspace.read(path, 1000)).bytes);

  beforeEach(async () => {
    room = await makeRoom();
    root = join(room, "home/workspace");
  });

  test("reads, from an offset, and says what it left out", async () => {
    const workspace = await open();
    expect(await read(workspace, "in.txt")).toBe("inside");
    expect(await read(workspace, "./in.txt")).toBe("inside");
    expect(await read(workspace, join(root, "in.txt"))).toBe("inside");
    const part = await workspace.read("in.txt", 3, 2);
    expect([Buffer.from(part.bytes).toString(), part.truncated]).toEqual(["sid", true]);
    expect(await workspace.read("in.txt", 6)).toMatchObject({ truncated: false });
    expect((await workspace.read("in.txt", 10, 100)).bytes.byteLength).toBe(0);
  });

  test("writes: new folders, whole replacement, append; a script stays executable", async () => {
    const workspace = await open();
    await workspace.write("a/b/c.txt", bytes("one"), "replace");
    await workspace.write("a/b/c.txt", bytes(" two"), "append");
    await workspace.write("a/new.txt", bytes("fresh"), "append");
    expect([await read(workspace, "a/b/c.txt"), await read(workspace, "a/new.txt")]).toEqual(["one two", "fresh"]);
    await fs.chmod(join(root, "in.txt"), 0o755);
    await workspace.write("in.txt", bytes("changed"), "replace");
    expect((await fs.stat(join(root, "in.txt"))).mode & 0o777).toBe(0o755);
    expect((await fs.readdir(root)).toSorted()).toEqual(["a", "in.txt", "sub"]);
  });

  test("calls that begin the same file at the same time all add to it", async () => {
    const workspace = await open();
    const lines = Array.from({ length: 20 }, (_each, index) => `line ${index}\n`);
    await Promise.all(lines.map((line) => workspace.write("logs/new.txt", bytes(line), "append")));
    expect((await read(workspace, "logs/new.txt")).split(/(?<=\n)/).toSorted()).toEqual(lines.toSorted());
    const slowly: FillFile = async (write) => {
      await workspace.write("logs/slow.txt", bytes("quick\n"), "append");
      await write(bytes("slow\n"));
    };
    await workspace.write("logs/slow.txt", slowly, "append");
    expect(await read(workspace, "logs/slow.txt")).toBe("quick\nslow\n");
  });

  test("lists sorted, with kinds and sizes, and says when there is more", async () => {
    const workspace = await open();
    await fs.symlink("/etc", join(root, "link"));
    expect(await workspace.list("", 10)).toEqual({
      entries: [
        { name: "in.txt", kind: "file", size: 6 },
        { name: "link", kind: "symlink", size: 0 },
        { name: "sub", kind: "directory", size: 0 },
      ],
      truncated: false,
    });
    expect(await workspace.list(".", 2)).toMatchObject({ truncated: true });
    await expect(workspace.list("in.txt", 1)).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
  });

  test.each(["../key", "sub/../../key", "sub/..", "..", "a\\..\\..\\key", "/etc/passwd", "/proc/self/root/etc/passwd"])(
    "%s is outside, for every operation",
    async (path) => {
      const workspace = await open();
      for (const attempt of [
        workspace.read(path, 10),
        workspace.list(path, 10),
        workspace.write(path, bytes("x"), "replace"),
        workspace.write(path, bytes("x"), "append"),
        workspace.remove(path),
      ]) {
        await expect(attempt).rejects.toMatchObject({ code: "PATH_OUTSIDE_WORKSPACE" });
      }
    },
  );

  test("a path that only begins like the root is outside", async () => {
    await fs.mkdir(`${root}-evil`);
    await fs.writeFile(`${root}-evil/x`, SECRET);
    await expect((await open()).read(`${root}-evil/x`, 10)).rejects.toMatchObject({ code: "PATH_OUTSIDE_WORKSPACE" });
  });

  test("symlinks inside are followed, those that lead out are not", async () => {
    const workspace = await open();
    await fs.symlink("in.txt", join(root, "good"));
    await fs.symlink(join(room, "outside"), join(root, "out"));
    await fs.symlink("out", join(root, "out2"));
    await fs.symlink("/proc/self/root", join(root, "proc"));
    await fs.symlink(join(room, "outside/secret"), join(root, "file"));
    await fs.symlink(join(room, "outside/new"), join(root, "dangling"));
    expect(await read(workspace, "good")).toBe("inside");
    const refused = { code: "PATH_OUTSIDE_WORKSPACE" };
    for (const path of ["out/secret", "out2/secret", "file", `proc${room}/outside/secret`]) {
      await expect(workspace.read(path, 10)).rejects.toMatchObject(refused);
      await expect(workspace.write(path, bytes("x"), "append")).rejects.toMatchObject(refused);
    }
    await expect(workspace.list("out", 10)).rejects.toMatchObject(refused);
    await expect(workspace.write("out/new", bytes("x"), "replace")).rejects.toMatchObject(refused);
    await expect(workspace.write("out2/deep/new", bytes("x"), "replace")).rejects.toMatchObject(refused);
    await expect(workspace.write("dangling", bytes("x"), "append")).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
    await expect(workspace.write("dangling/x", bytes("x"), "replace")).rejects.toMatchObject({
      code: "TOOL_BAD_INPUT",
    });
    expect(await fs.readdir(join(room, "outside"))).toEqual(["never-listed", "secret"]);
  });

  test("replacing a link replaces the link: what it points to stays as it is", async () => {
    const workspace = await open();
    await fs.symlink(join(room, "outside/secret"), join(root, "file"));
    await fs.link(join(room, "outside/secret"), join(root, "hard"));
    await workspace.write("file", bytes("mine"), "replace");
    await workspace.write("hard", bytes("mine"), "replace");
    expect(await fs.readFile(join(room, "outside/secret"), "utf8")).toBe(SECRET);
    expect([await read(workspace, "file"), await read(workspace, "hard")]).toEqual(["mine", "mine"]);
  });

  test("a file with a second name is not appended to", async () => {
    await fs.link(join(room, "outside/secret"), join(root, "hard"));
    await expect((await open()).write("hard", bytes("x"), "append")).rejects.toMatchObject({ code: "PATH_FORBIDDEN" });
    expect(await fs.readFile(join(room, "outside/secret"), "utf8")).toBe(SECRET);
  });

  test("pipes, sockets and folders are no files, and nothing waits", async (context) => {
    if (process.platform === "win32") context.skip("Windows has no FIFOs in folders");
    const workspace = await open();
    execFileSync("mkfifo", [join(root, "fifo")]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, "sock"), resolve));
    for (const path of ["fifo", "sock", "sub"]) {
      await expect(workspace.read(path, 10)).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
      await expect(workspace.write(path, bytes("x"), "replace")).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
      await expect(workspace.write(path, bytes("x"), "append")).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
    }
    server.close();
  });

  test.each(["missing", "in.txt/x", "a\0b", "x".repeat(5000)])(
    "%.20j: an error for the model, without the path",
    async (path) => {
      const error = await (await open()).read(path, 10).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "TOOL_BAD_INPUT", message: expect.not.stringContaining(path) });
    },
  );

  test("forbidden paths, also under another name and when they appear later", async () => {
    const workspace = await open({ forbiddenPaths: ["private", join(root, "sub"), "later"] });
    await fs.mkdir(join(root, "private"));
    await fs.writeFile(join(root, "private/x"), SECRET);
    await fs.symlink("private", join(root, "alias"));
    await fs.mkdir(join(root, "real"));
    await fs.writeFile(join(root, "real/x"), SECRET);
    await fs.symlink("real", join(root, "later"));
    for (const path of ["private/x", "private", "alias/x", "sub", "sub/new", "later/x", "real/x"]) {
      await expect(workspace.read(path, 10)).rejects.toMatchObject({ code: "PATH_FORBIDDEN" });
      await expect(workspace.write(path, bytes("x"), "replace")).rejects.toMatchObject({ code: "PATH_FORBIDDEN" });
    }
    await expect(workspace.write("alias/new", bytes("x"), "append")).rejects.toMatchObject({ code: "PATH_FORBIDDEN" });
    expect(await fs.readdir(join(root, "private"))).toEqual(["x"]);
  });

  test.each(["~/.ssh", "*.pem", "a?", ""])(
    "forbidden_paths = [%j] stops the start: it would protect nothing",
    async (entry) => {
      await expect(open({ forbiddenPaths: [entry] })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    },
  );

  test("workspace_only = false opens the rest, but neither the home nor the kernel's folders", async () => {
    const workspace = await open({ workspaceOnly: false, forbiddenPaths: [join(room, "outside/no")] });
    const outside = join(room, "outside");
    expect(await read(workspace, join(outside, "secret"))).toBe(SECRET);
    await workspace.write(join(outside, "new/file"), bytes("x"), "replace");
    expect(await fs.readFile(join(outside, "new/file"), "utf8")).toBe("x");
    expect((await workspace.list(room, 10)).entries.map((entry) => entry.name)).toEqual(["outside"]);
    await fs.symlink(join(room, "home/key"), join(outside, "key"));
    const kernel = process.platform === "linux" ? ["/proc/self/environ", "/dev/null", "/sys/kernel"] : [];
    for (const path of [join(room, "home/key"), join(outside, "key"), join(outside, "no/x"), ...kernel]) {
      await expect(workspace.read(path, 10)).rejects.toMatchObject({
        code: expect.stringMatching(/PATH_FORBIDDEN|TOOL_BAD_INPUT/),
      });
    }
    await expect(workspace.read(join(room, "home/key"), 10)).rejects.toMatchObject({ code: "PATH_FORBIDDEN" });
    await expect(workspace.write(join(room, "home/x"), bytes("x"), "replace")).rejects.toMatchObject({
      code: "PATH_FORBIDDEN",
    });
    await workspace.write("in.txt", bytes("still mine"), "replace");
  });

  test("whatever the links and the path: nothing outside is read, changed or created", async () => {
    const name = fc.constantFrom("a", "b", "c", "..", ".", "", "outside", "secret", "home", "key", "workspace");
    const target = fc.array(name, { maxLength: 5 }).map((parts) => parts.join("/"));
    const link = fc.record({
      at: fc.constantFrom("a", "b", "c", "sub/a", "sub/b"),
      to: target,
      absolute: fc.boolean(),
    });
    const path = fc.oneof(
      target,
      target.map((text) => `/${text}`),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(link, { maxLength: 5 }),
        fc.array(path, { minLength: 1, maxLength: 6 }),
        async (links, paths) => {
          room = await makeRoom();
          root = join(room, "home/workspace");
          for (const { at, to, absolute } of links) {
            await fs.symlink(absolute ? `${room}/${to}` : to || ".", join(root, at)).catch(() => undefined);
          }
          const workspace = await open();
          for (const each of paths.flatMap((text) => [text, room + text])) {
            const content = await read(workspace, each).catch(() => "");
            expect(content).not.toContain(SECRET);
            const listed = await workspace.list(each, 10).catch(() => ({ entries: [] }));
            expect(listed.entries.map((entry) => entry.name)).not.toContain("never-listed");
            await workspace.write(each, bytes("x"), "append").catch(() => undefined);
            await workspace.write(each, bytes("x"), "replace").catch(() => undefined);
          }
          expect(await fs.readdir(join(room, "outside"))).toEqual(["never-listed", "secret"]);
          expect(await fs.readFile(join(room, "outside/secret"), "utf8")).toBe(SECRET);
          expect((await fs.readdir(join(room, "home"))).toSorted()).toEqual(["key", "workspace"]);
          expect(await fs.readFile(join(room, "home/key"), "utf8")).toBe(SECRET);
          await fs.rm(room, { recursive: true });
        },
      ),
      { numRuns: cases(60) },
    );
  });
});

test("a missing root is created for its owner only", async () => {
  const room = await makeRoom();
  const workspace = await openWorkspace(join(room, "fresh"), { forbiddenPaths: [], hidden: [], workspaceOnly: true });
  expect((await fs.stat(workspace.root)).mode & 0o777).toBe(0o700);
});

test("a root that is a file, or below one, is a mistake in the config", async () => {
  const file = join(await makeRoom(), "outside/secret");
  for (const root of [file, join(file, "below")]) {
    const opened = openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true });
    await expect(opened).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  }
});
