// The race that path checks lose: another process swaps a folder for a symlink to the outside between check and use.
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkspace } from "../src/workspace/index.ts";

/** Swaps a link between inside and outside, and a folder for a link to the outside, without pause. */
const ATTACKER = `
const fs = require("node:fs");
const [root, outside] = process.argv.slice(1);
const attempt = (act) => { try { act(); } catch {} };
process.stdout.write("swapping");
for (let round = 0; ; round += 1) {
  attempt(() => fs.symlinkSync(round % 2 ? outside : "real", root + "/next"));
  attempt(() => fs.renameSync(root + "/next", root + "/link"));
  attempt(() => { fs.renameSync(root + "/dir", root + "/away"); fs.symlinkSync(outside, root + "/dir"); });
  attempt(() => fs.unlinkSync(root + "/dir"));
  attempt(() => fs.renameSync(root + "/away", root + "/dir"));
}`;

let room: string;
let attacker: ChildProcess;

beforeEach(async () => {
  room = await fs.mkdtemp(join(tmpdir(), "svc-race-"));
  for (const folder of ["root/real", "root/dir", "outside"]) {
    await fs.mkdir(join(room, folder), { recursive: true });
    await fs.writeFile(join(room, folder, "file"), folder === "outside" ? "outside" : "inside");
  }
  attacker = spawn(process.execPath, ["-e", ATTACKER, join(room, "root"), join(room, "outside")]);
  await new Promise((resolve) => attacker.stdout?.once("data", resolve));
});

afterEach(async () => {
  attacker.kill("SIGKILL");
  await new Promise((resolve) => attacker.once("close", resolve));
  await fs.rm(room, { recursive: true, force: true });
});

test("a swapped folder never lets a read, a write or a listing out", async (context) => {
  if (process.platform !== "linux") context.skip("no descriptors to hold on to outside Linux: see openByPath");
  const workspace = await openWorkspace(join(room, "root"), { forbiddenPaths: [], hidden: [], workspaceOnly: true });
  const outcomes = new Set<string>();
  for (let round = 0; round < 1500; round += 1) {
    for (const folder of ["link", "dir"]) {
      const content = await workspace.read(`${folder}/file`, 100).then(
        (read) => new TextDecoder().decode(read.bytes),
        (error: { code: string }) => error.code,
      );
      outcomes.add(content);
    }
    await workspace.write("link/new", new Uint8Array([1]), "replace").catch(() => undefined);
    await workspace.write("link/file", new Uint8Array(), "append").catch(() => undefined);
    await workspace.list("link", 10).catch(() => undefined);
  }
  expect(outcomes).toContain("inside");
  expect(outcomes).toContain("PATH_OUTSIDE_WORKSPACE");
  expect(outcomes).not.toContain("outside");
  expect(await fs.readdir(join(room, "outside"))).toEqual(["file"]);
});
