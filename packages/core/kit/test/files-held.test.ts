// A walk by descriptors is safe only while they are open: the number of a closed one is soon that of another file.
import { chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { givePath, removePath } from "../src/files/index.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "svc-held-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function plant(): string {
  const top = join(folder, "top");
  for (const path of ["a/b/c", "d", "e/f"]) {
    mkdirSync(join(top, path), { recursive: true });
    writeFileSync(join(top, path, "file"), "");
  }
  return top;
}

test("removePath resolves when nothing is left, the folder itself included", async () => {
  const top = plant();
  expect([await removePath(top), existsSync(top)]).toEqual([true, false]);
});

test("givePath gives every entry, however deep", async (context) => {
  context.skip(process.geteuid?.() !== 0, "only root gives files away");
  const top = plant();
  chownSync(top, 0, 0);
  await givePath(top, { uid: 65_534, gid: 65_534 });
  const paths = ["", ...readdirSync(top, { recursive: true })].map((path) => join(top, String(path)));
  expect(paths.filter((path) => lstatSync(path).uid !== 65_534)).toEqual([]);
});
