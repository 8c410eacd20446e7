// A file that is sent though it was deleted, forbidden or grown meanwhile; a sick disk that makes a dead letter at once.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError, type Workspace } from "@svc/contract";
import { temporaryHome } from "@svc/testkit";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "../src/index.ts";
import { fileOpener } from "../src/messaging/delivery/outgoing-file.ts";
import { mediaKindOf, mediaTypeOf } from "../src/messaging/media-type.ts";
import { failure } from "./house.ts";

const kept = { kind: "image", path: "pictures/cat.png", agent: "main" } as const;

async function desk() {
  const home = temporaryHome();
  const root = join(home.path, "workspace");
  const workspace = await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true });
  mkdirSync(join(root, "pictures"));
  writeFileSync(join(root, kept.path), "meow");
  return {
    root,
    openFile: fileOpener((agent) => (agent === "main" ? workspace : undefined)),
    [Symbol.dispose]: () => home.remove(),
  };
}

describe("a file on its way out", () => {
  test("has its name, its type and, when it is read, its bytes", async () => {
    using house = await desk();
    const file = await house.openFile(kept, 4);
    expect(file).toMatchObject({ kind: "image", name: "cat.png", mimeType: "image/png" });
    expect(Buffer.from(await file.read()).toString()).toBe("meow");
  });

  test("is refused when it is gone, when it has grown beyond what the channel takes, when its agent is gone", async () => {
    using house = await desk();
    const { openFile, root } = house;
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
