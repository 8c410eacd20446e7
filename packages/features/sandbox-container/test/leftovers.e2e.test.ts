// Any user may make a folder in /tmp with the name of one of ours whose process is gone. Removing it by that name removed what the
// user put in its place meanwhile: any file of root's.
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Engine } from "../src/engine.ts";
import { PREFIX, removeLeftovers } from "../src/leftovers.ts";

/** No process has this number: it is larger than any kernel hands out. */
const GONE = "99999999-1";
const STRANGER = 242_721;

let folder: string;
let outside: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), `${PREFIX}${GONE}-`));
  outside = mkdtempSync(join(tmpdir(), "svc-outside-"));
  mkdirSync(join(folder, "below"));
  writeFileSync(join(folder, "below", "report"), "");
  writeFileSync(join(outside, "file"), "");
});

afterEach(() => {
  for (const path of [folder, outside]) rmSync(path, { recursive: true, force: true });
});

/** An engine that has no containers. */
const engine = { name: "podman", file: "/bin/true", env: {} } as unknown as Engine;
const remove = (): Promise<number> => removeLeftovers(engine, "svc.home=none", new AbortController().signal);

test("a folder of this user whose process is gone is removed", async () => {
  await remove();
  expect(existsSync(folder)).toBe(false);
});

test("a link out of it is removed, and its target stays", async () => {
  symlinkSync(outside, join(folder, "link"));
  await remove();
  expect([existsSync(folder), existsSync(join(outside, "file"))]).toEqual([false, true]);
});

test.skipIf(process.getuid?.() !== 0)(
  "a folder of another user is left alone",
  { meta: { skipReason: "needs root" } },
  async () => {
    chownSync(folder, STRANGER, STRANGER);
    await remove();
    expect(existsSync(join(folder, "below", "report"))).toBe(true);
  },
);

test("a link of such a name is left alone", async () => {
  rmSync(folder, { recursive: true });
  symlinkSync(outside, folder);
  await remove();
  expect([existsSync(folder), existsSync(join(outside, "file"))]).toEqual([true, true]);
});
