// A killed daemon leaves its temporary folders. Removing them by name would let any local user have the daemon remove what a link
// or a folder of that name leads to: only what is surely ours and abandoned may go.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeScratch, removeAbandonedScratch } from "../../src/files/index.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { processMark } from "../../src/files/scratch.ts";

let room: string;
beforeEach(() => (room = mkdtempSync(join(tmpdir(), "svc-test-"))));
afterEach(() => rmSync(room, { recursive: true, force: true }));

/** As a process left it that is gone: its number is free, or has gone to another one. */
async function abandonedName(prefix = "svc-session-"): Promise<string> {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const [namespace] = (await processMark()).split("-");
  return `${prefix}${namespace}-${pid}-1-AbC123`;
}

const plant = (name: string, mode = 0o700): string => {
  const path = join(room, name);
  mkdirSync(path, { mode });
  chmodSync(path, mode);
  mkdirSync(join(path, "t"));
  writeFileSync(join(path, "t", "file"), "left behind");
  return path;
};

describe.skipIf(process.platform !== "linux")(
  "abandoned temporary folders",
  { meta: { skipReason: "needs /proc" } },
  () => {
    test("of a process that is gone are removed; those of one that runs stay", async () => {
      const gone = plant(await abandonedName());
      const given = plant(await abandonedName("svc-trial-"), 0o710);
      const number = plant((await abandonedName()).replace(/-\d+-1-/, `-${process.pid}-1-`));
      await using ours = await makeScratch({ prefix: "svc-session-", parent: room });
      expect(await removeAbandonedScratch(room)).toBe(3);
      expect([gone, given, number, ours.path].map((path) => existsSync(path))).toEqual([false, false, false, true]);
    });

    test("links in them go, and what they lead to stays", async () => {
      const kept = plant("kept");
      const path = plant(await abandonedName());
      symlinkSync(kept, join(path, "folder"));
      symlinkSync(join(kept, "t", "file"), join(path, "file"));
      expect(await removeAbandonedScratch(room)).toBe(1);
      expect(readdirSync(join(kept, "t"))).toEqual(["file"]);
    });

    test.each<[string, (name: string) => void]>([
      ["a link to a folder of ours", (name) => symlinkSync(plant("target"), join(room, name))],
      ["a link to nothing", (name) => symlinkSync("nowhere", join(room, name))],
      ["a file", (name) => writeFileSync(join(room, name), "x")],
      ["a folder that its group may write", (name) => void plant(name, 0o770)],
      ["a folder that anybody may enter", (name) => void plant(name, 0o755)],
    ])("%s of such a name stays as it is", async (_, make) => {
      const name = await abandonedName();
      make(name);
      const before = readdirSync(room, { recursive: true });
      expect(await removeAbandonedScratch(room)).toBe(0);
      expect(readdirSync(room, { recursive: true })).toEqual(before);
    });

    test("a folder of another user stays", async (context) => {
      context.skip(process.geteuid?.() !== 0, "needs root to make one");
      const path = plant(await abandonedName());
      chownSync(path, 12_345, 12_345);
      expect(await removeAbandonedScratch(room)).toBe(0);
      expect(existsSync(join(path, "t", "file"))).toBe(true);
    });

    test.each([
      ["of a process in another container", (name: string) => name.replace(/-\d+-(\d+)-1-/, "-1-$1-1-")],
      ["without a mark", () => "svc-session-AbC123"],
      ["of another program", (name: string) => name.replace("svc-", "app-")],
      ["of a longer name", (name: string) => `${name}-x`],
    ])("a folder %s stays", async (_, rename) => {
      plant(rename(await abandonedName()));
      expect(await removeAbandonedScratch(room)).toBe(0);
      expect(readdirSync(room)).toHaveLength(1);
    });
  },
);
