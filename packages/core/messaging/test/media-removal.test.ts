// Files of strangers that pile up for ever; or housekeeping that removes what is not its own: what the agent or a person has
// put there, through a symlink, outside of its folder.
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type InboundMedia, type Json, SvcError, type Workspace } from "@svc/contract";
import type { FiledMessage } from "@svc/store";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFiles, removeLeftovers } from "../src/index.ts";
import { mediaPath, openWorkspace } from "@svc/agent";

const RECEIVED = Date.UTC(2026, 0, 1);
const FOLDER = "media/2026-01-01";
const CAT: InboundMedia = { kind: "image", ref: "r", placeholder: "[IMAGE]", fileName: "cat.jpg" };
const filed = (n: number, ...media: InboundMedia[]): FiledMessage => ({
  n,
  receivedAtMs: RECEIVED,
  media: media as unknown as Json,
});

let home: ReturnType<typeof temporaryHome>;
let root: string;
let workspace: Workspace;
let log: ReturnType<typeof captureLogger>;
beforeEach(async () => {
  home = temporaryHome();
  workspace = await openWorkspace(join(home.path, "desk"), { forbiddenPaths: [], hidden: [], workspaceOnly: true });
  root = workspace.root;
  log = captureLogger();
});
afterEach(() => home.remove());

function put(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), path);
  }
}
const files = (): string[] => readdirSync(root, { recursive: true }).map(String).toSorted();

test("the files of a message go, and the day's folder with the last one; what else is there stays", async () => {
  put(`${FOLDER}/1-cat.jpg`, `${FOLDER}/1.2-cat.jpg`, `${FOLDER}/2-cat.jpg`, `${FOLDER}/10-cat.jpg`, "notes/1-cat.jpg");
  await removeFiles([workspace], log, [filed(1, CAT, CAT)]);
  expect(files()).toEqual(["media", FOLDER, `${FOLDER}/10-cat.jpg`, `${FOLDER}/2-cat.jpg`, "notes", "notes/1-cat.jpg"]);
  await removeFiles([workspace], log, [filed(2, CAT), filed(10, CAT), filed(3, CAT)]);
  expect([files(), log.text()]).toEqual([["media", "notes", "notes/1-cat.jpg"], ""]);
});

test("whatever a file was called, the one that was kept of it is removed, and no other", async () => {
  const name = fc.string({ unit: "binary", maxLength: 40 });
  const mimeType = fc.constantFrom(undefined, "image/png", "audio/ogg; codecs=opus", "x/y", "");
  await fc.assert(
    fc.asyncProperty(name, mimeType, async (fileName, type) => {
      const media = { ...CAT, fileName, ...(type !== undefined && { mimeType: type }) };
      const path = await mediaPath(media, 7, 0, RECEIVED);
      await workspace.write(path, Buffer.from("x"), "replace");
      put("media/other", `${FOLDER}/8-cat.jpg`);
      await removeFiles([workspace], log, [filed(7, media)]);
      expect(files()).toEqual(["media", FOLDER, `${FOLDER}/8-cat.jpg`, "media/other"]);
    }),
    { numRuns: cases(25) },
  );
});

test("what was moved stays, and what stands in its place and is no file", async () => {
  put(`${FOLDER}/1-cat.jpg`, `${FOLDER}/2-cat.jpg/mine`, "keep.txt");
  renameSync(join(root, FOLDER, "1-cat.jpg"), join(root, "album.jpg"));
  symlinkSync(join(root, "keep.txt"), join(root, FOLDER, "3-cat.jpg"));
  const before = files();
  await removeFiles([workspace], log, [filed(1, CAT), filed(2, CAT), filed(3, CAT)]);
  expect([files(), log.text()]).toEqual([before, ""]);
});

test.each(["media", FOLDER])("nothing is removed where %s has become a symlink", async (folder) => {
  const elsewhere = join(home.path, "elsewhere");
  for (const target of [join(root, "mine"), elsewhere]) {
    put(`${FOLDER}/1-cat.jpg`, `${FOLDER}/.svc-0123456789abcdef.tmp`);
    cpSync(join(root, folder), target, { recursive: true });
    rmSync(join(root, folder), { recursive: true });
    symlinkSync(target, join(root, folder));
    await removeFiles([workspace], log, [filed(1, CAT)]);
    await removeLeftovers([workspace], log);
    const inside = folder === "media" ? join(target, "2026-01-01") : target;
    expect(readdirSync(inside).toSorted()).toEqual([".svc-0123456789abcdef.tmp", "1-cat.jpg"]);
    rmSync(join(root, folder));
  }
});

test("a damaged message names no file, and the others' files go all the same", async () => {
  put(`${FOLDER}/4-cat.jpg`, "x");
  const damaged = ["../../x", { 0: 1 }, [null], [{ kind: "image", fileName: 5 }]] as Json[];
  await removeFiles([workspace], log, [
    ...damaged.map((media) => ({ n: 1, receivedAtMs: RECEIVED, media })),
    { n: 2, receivedAtMs: Number.NaN, media: [CAT] as unknown as Json },
    filed(4, CAT),
  ]);
  expect(files()).toEqual(["media", "x"]);
});

test("it is looked for with each agent, once where two share a workspace", async () => {
  const other = await openWorkspace(join(home.path, "other"), { forbiddenPaths: [], hidden: [], workspaceOnly: true });
  await other.write(`${FOLDER}/1-cat.jpg`, Buffer.from("x"), "replace");
  const asked: string[] = [];
  const shared = { ...fakeWorkspace({}), remove: async (path: string) => (asked.push(path), false) };
  await removeFiles([workspace, other, shared, { ...shared }], log, [filed(1, CAT)]);
  expect(existsSync(join(home.path, "other", FOLDER))).toBe(false);
  expect(asked).toEqual([`${FOLDER}/1-cat.jpg`, FOLDER]);
});

test("what the system does not let go is told in one line, without anybody's words", async () => {
  const stuck = { ...fakeWorkspace({}), remove: () => Promise.reject(new SvcError("TOOL_FAILED", "EACCES")) };
  await removeFiles([stuck], log, [filed(1, { ...CAT, fileName: "my-name.jpg" }), filed(2, CAT)]);
  expect(log.lines).toHaveLength(1);
  expect(log.text()).toMatch(/could not be removed.*TOOL_FAILED/);
  expect(log.text()).not.toContain("my-name");
});

test("what a killed fetch left is removed from the days' folders; what looks like it elsewhere stays", async () => {
  const leftover = ".svc-0123456789abcdef.tmp";
  const kept = [
    `${leftover}`,
    `notes/${leftover}`,
    `media/${leftover}`,
    `media/2026-01/${leftover}`,
    `${FOLDER}/deep/${leftover}`,
    `${FOLDER}/.svc-0123.tmp`,
    `${FOLDER}/${leftover}.txt`,
    `${FOLDER}/1-cat.jpg`,
  ];
  put(...kept, `${FOLDER}/${leftover}`, `media/2026-01-02/${leftover}`, `media/2026-01-02/.svc-fedcba9876543210.tmp`);
  mkdirSync(join(root, "media/2026-01-02/.svc-aaaaaaaaaaaaaaaa.tmp"));
  writeFileSync(join(root, "media/2026-01-02/.svc-aaaaaaaaaaaaaaaa.tmp/mine"), "");
  await removeLeftovers(
    [workspace, await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true })],
    log,
  );
  expect(files().filter((path) => path.endsWith(".tmp") || path.endsWith(".txt") || path.endsWith(".jpg"))).toEqual(
    [...kept, "media/2026-01-02/.svc-aaaaaaaaaaaaaaaa.tmp"].toSorted(),
  );
  expect(log.text()).toBe("");
});

test("where no file ever came, a start makes no folder and says nothing", async () => {
  await removeLeftovers(
    [workspace, { ...fakeWorkspace({}), list: () => Promise.reject(new SvcError("TOOL_FAILED")) }],
    log,
  );
  expect([files(), log.text()]).toEqual([[], ""]);
});
