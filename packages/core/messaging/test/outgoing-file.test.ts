// A file that is sent though it was deleted, forbidden, grown or replaced meanwhile; a sick disk that makes a dead letter at once.
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError, type Workspace } from "@svc/contract";
import { mediaKindOf } from "@svc/kit";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "@svc/agent";
import { attachedFile, fileOpener } from "../src/media/outgoing-files.ts";
import { mediaTypeOf } from "../src/media/incoming-files.ts";
import { failure } from "@svc/agent/agent-fixture";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const kept = { kind: "image", path: "pictures/cat.png", agent: "main" } as const;

async function desk() {
  const home = temporaryHome();
  const root = join(home.path, "workspace");
  const workspace = await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true });
  mkdirSync(join(root, "pictures"));
  writeFileSync(join(root, kept.path), "meow");
  return {
    root,
    workspace,
    openFile: fileOpener((agent) => (agent === "main" ? workspace : undefined)),
    [Symbol.dispose]: () => home.remove(),
  };
}

describe("a file on its way out", () => {
  test("has its name, its type and, when it is read, its bytes", async () => {
    using agentFixture = await desk();
    const file = await agentFixture.openFile(kept, 4);
    expect(file).toMatchObject({ kind: "image", name: "cat.png", mimeType: "image/png" });
    expect(Buffer.from(await file.read()).toString()).toBe("meow");
  });

  test("is refused when it is gone, when it has grown beyond what the channel takes, when its agent is gone", async () => {
    using agentFixture = await desk();
    const { openFile, root } = agentFixture;
    const file = await openFile(kept, 4);
    writeFileSync(join(root, kept.path), "meow!");
    expect(await failure(file.read())).toMatchObject({ code: "DELIVERY_REFUSED" });
    rmSync(join(root, kept.path));
    expect(await failure(file.read())).toMatchObject({ code: "DELIVERY_REFUSED" });
    const orphan = await openFile({ ...kept, agent: "gone" }, 4);
    expect(await failure(orphan.read())).toMatchObject({ code: "DELIVERY_REFUSED" });
    const outside = await openFile({ ...kept, path: "../secret" }, 4);
    expect(await failure(outside.read())).toMatchObject({ code: "DELIVERY_REFUSED" });
  });

  const media = {
    maxBytes: 3_000_000,
    sends: ["image"],
    fetch: () => Promise.reject(new Error("not in this test")),
  } as const;

  test("is the content that was queued, large or empty", async () => {
    using agentFixture = await desk();
    const path = join(agentFixture.root, kept.path);
    for (const content of ["meow", "", "x".repeat(2_500_000)]) {
      writeFileSync(path, content);
      const queued = await attachedFile({ ...agentFixture, agent: "main", media }, kept.path);
      expect(queued.content).toEqual({ bytes: content.length, sha256: sha256(content) });
      const file = await agentFixture.openFile(queued, media.maxBytes);
      expect(Buffer.from(await file.read()).toString()).toBe(content);
    }
  });

  test.each<[string, (path: string) => void, string]>([
    ["changed in place", (path) => writeFileSync(path, "MEOW"), "DELIVERY_FILE_CHANGED"],
    ["longer", (path) => writeFileSync(path, "meow!"), "DELIVERY_FILE_CHANGED"],
    ["shorter", (path) => writeFileSync(path, "me"), "DELIVERY_FILE_CHANGED"],
    ["much longer", (path) => writeFileSync(path, "m".repeat(4_000_000)), "DELIVERY_FILE_CHANGED"],
    [
      "another file of the same size and time",
      (path) => (writeFileSync(`${path}.new`, "MEOW"), renameSync(`${path}.new`, path)),
      "DELIVERY_FILE_CHANGED",
    ],
    [
      "a link to another file of the workspace",
      (path) => (rmSync(path), writeFileSync(`${path}.new`, "MEOW"), symlinkSync(`${path}.new`, path)),
      "DELIVERY_FILE_CHANGED",
    ],
    ["a link to a file outside", (path) => (rmSync(path), symlinkSync("/etc/passwd", path)), "DELIVERY_REFUSED"],
    ["deleted", (path) => rmSync(path), "DELIVERY_REFUSED"],
  ])("is not sent when it is %s by then", async (_, change, code) => {
    using agentFixture = await desk();
    const queued = await attachedFile({ ...agentFixture, agent: "main", media }, kept.path);
    const file = await agentFixture.openFile(queued, media.maxBytes);
    change(join(agentFixture.root, kept.path));
    expect(await failure(file.read())).toMatchObject({ code });
  });

  test("of a message that an older version queued is sent as it is", async () => {
    using agentFixture = await desk();
    writeFileSync(join(agentFixture.root, kept.path), "MEOW");
    expect(Buffer.from(await (await agentFixture.openFile(kept, 4)).read()).toString()).toBe("MEOW");
  });

  test("is tried again when the file system fails", async () => {
    const read = () => Promise.reject(new SvcError("TOOL_FAILED", "The file system reported EIO."));
    const openFile = fileOpener(() => ({ read }) as unknown as Workspace);
    expect(await failure((await openFile(kept, 4)).read())).toMatchObject({ code: "DELIVERY_FAILED" });
  });
});

test.each([
  ["cat.JPG", "image/jpeg", "image"],
  ["a/b.c/song.mp3", "audio/mpeg", "audio"],
  ["note.oga", "audio/ogg", "audio"],
  ["film.mp4", "video/mp4", "video"],
  ["paper.pdf", "application/pdf", "document"],
  ["sheet.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "document"],
  ["README", "application/octet-stream", "document"],
  ["a.b/README", "application/octet-stream", "document"],
  ["what.is-this", "application/octet-stream", "document"],
])("%s is %s, a file of the kind %s", async (name, type, kind) => {
  expect(await mediaTypeOf(name)).toBe(type);
  expect(mediaKindOf(type)).toBe(kind);
});
