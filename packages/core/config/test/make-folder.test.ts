// bug: a workspace below /proc made a start and every later reload wait for ever, with a whole core.
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeFolder } from "../src/home-files.ts";

const room = mkdtempSync(join(tmpdir(), "svc-make-folder-"));
afterAll(() => rmSync(room, { recursive: true, force: true }));

test("a folder with those above it, of this user alone, also when it is there already or asked for twice at once", async () => {
  const deep = join(room, "a/b/c");
  await Promise.all([makeFolder(deep), makeFolder(deep), makeFolder(join(room, "a/b"))]);
  await makeFolder(deep);
  await makeFolder("/");
  expect(statSync(deep).isDirectory()).toBe(true);
  const { mode } = statSync(join(room, "a"));
  // Windows has no such bits.
  expect(process.platform === "win32" || (mode & 0o777) === 0o700).toBe(true);
  symlinkSync(deep, join(room, "link"));
  await makeFolder(join(room, "link"));
});

test("a file in its place, or above it, is an error", async () => {
  const file = join(room, "file");
  writeFileSync(file, "");
  await expect(makeFolder(file)).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolder(join(file, "below"))).rejects.toMatchObject({
    code: expect.stringMatching(/ENOTDIR|ENOENT/),
  });
});

test("where no folder can be, it ends", async (context) => {
  context.skip(process.platform !== "linux", "only Linux has /proc");
  await expect(makeFolder("/proc/no-such-process/x")).rejects.toMatchObject({ code: "ENOENT" });
});
