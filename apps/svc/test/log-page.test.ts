// A page that follows the log: a line that is shown twice or never, over rotations and emptied files, is the bug here.
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { matcher } from "../src/logs/filters.ts";
import { logPage } from "../src/logs/log-page.ts";

const line = (message: string, level = "info"): string =>
  `${JSON.stringify({ time: "2026-01-01T00:00:00.000Z", level, message })}\n`;

function openLog() {
  const folder = mkdtempSync(join(tmpdir(), "svc-log-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "svc.log");
  const all = { level: undefined, sinceMs: undefined, fields: [], channel: undefined, grep: undefined };
  const read = (after?: string, filters: Partial<Parameters<typeof matcher>[0]> = {}, limit = 3) => {
    const page = logPage(path, { after, limit, matches: matcher({ ...all, ...filters }) });
    return { ...page, said: page.lines.map(({ entry, text }) => entry?.message ?? text) };
  };
  return { path, read };
}

test("begins with the newest lines and goes on with what is new, each line once", () => {
  const { path, read } = openLog();
  expect(read()).toMatchObject({ said: [], cursor: undefined, isCut: false });
  writeFileSync(path, ["a", "b", "c", "d"].map((text) => line(text)).join(""));
  const first = read();
  expect(first.said).toEqual(["b", "c", "d"]);
  expect(read(first.cursor)).toMatchObject({ said: [], cursor: first.cursor });
  // Half a line waits for its end.
  appendFileSync(path, line("e") + line("f").slice(0, 20));
  const second = read(first.cursor);
  expect(second.said).toEqual(["e"]);
  appendFileSync(path, line("f").slice(20));
  expect(read(second.cursor).said).toEqual(["f"]);
  expect(read(first.cursor, {}, 1)).toMatchObject({ said: ["f"], isCut: true });
});

test("goes on over a rotation, and begins anew where the file was emptied or is gone", () => {
  const { path, read } = openLog();
  writeFileSync(path, line("a"));
  const { cursor } = read();
  appendFileSync(path, line("b"));
  renameSync(path, `${path}.1`);
  writeFileSync(path, line("c"));
  const next = read(cursor);
  expect(next.said).toEqual(["b", "c"]);
  truncateSync(path);
  expect(read(next.cursor).said).toEqual(["a", "b"]);
  appendFileSync(path, line("d"));
  expect(read("1:2:3").said).toEqual(["a", "b", "d"]);
});

test("filters by level and by text in any case; lines that are not ours have no level", () => {
  const { path, read } = openLog();
  writeFileSync(path, line("one") + line("Two failed", "error") + line("three", "warn") + "by hand: two\n");
  expect(read(undefined, { level: "warn" }).said).toEqual(["Two failed", "three"]);
  expect(read(undefined, { grep: "TWO" }).said).toEqual(["Two failed", "by hand: two"]);
});

test("searches so much and no more for a word that is not there", () => {
  const { path, read } = openLog();
  writeFileSync(path, line("rare") + line("x".repeat(1000)).repeat(9000));
  expect(read(undefined, { grep: "rare" })).toMatchObject({ said: [], isCut: true });
  // What came since is more than a reader wants: it goes on from the newest.
  const [, device, inode] = /^(\d+):(\d+):/.exec(read().cursor!)!;
  expect(read(`${device}:${inode}:0`).isCut).toBe(true);
});
