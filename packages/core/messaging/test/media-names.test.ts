// A name out of somebody's message that leads out of the folder, hides the file, or is read as another one's place.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { InboundMedia } from "@svc/contract";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mediaPath, openWorkspace } from "@svc/agent";
import { withMedia } from "../src/media/incoming-files.ts";

const file: InboundMedia = { kind: "image", ref: "r", placeholder: "[IMAGE]" };

function temporaryDesk(): Disposable & { readonly root: string } {
  const home = temporaryHome();
  return { root: join(home.path, "desk"), [Symbol.dispose]: () => home.remove() };
}

describe("whatever a stranger calls a file", () => {
  const name = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.constantFrom(
      "../../etc/passwd",
      "..\\..\\x",
      ".ssh",
      "a/../../b",
      "\0",
      "con.",
      "x]\n[IMAGE:y",
      "a\u202Egpj.exe",
      ".",
      "-",
      "",
    ),
  );

  test("it lies where it belongs, under a name that can be shown and opened", async () => {
    using home = temporaryDesk();
    const workspace = await openWorkspace(home.root, { forbiddenPaths: [], hidden: [], workspaceOnly: true });
    await fc.assert(
      fc.asyncProperty(name, fc.option(fc.string(), { nil: undefined }), async (fileName, mimeType) => {
        const path = await mediaPath({ ...file, fileName, mimeType } as InboundMedia, 12, 0, Date.UTC(2026, 0, 1));
        expect(path).toMatch(/^media\/2026-01-01\/12-[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}._-]*\.[A-Za-z0-9]+$/u);
        expect(path.length).toBeLessThan(200);
        await workspace.write(path, new Uint8Array(), "replace");
        expect(existsSync(join(home.root, path))).toBe(true);
      }),
      { numRuns: cases(200) },
    );
  });

  test.each([
    ["cat.jpg", "image/png", "12-cat.jpg"],
    ["Übersicht 2026.PDF", undefined, "12-Übersicht-2026.PDF"],
    ["notes", "text/plain", "12-notes.txt"],
    ["", "application/pdf", "12-image.pdf"],
    ["", "audio/mpeg; x=1", "12-image.mp3"],
    ["", "nonsense", "12-image.jpg"],
    ["archive.tar.gz", undefined, "12-archive.tar.gz"],
  ])("%j of type %j is %s", async (fileName, mimeType, expected) => {
    const path = await mediaPath({ ...file, fileName, mimeType } as InboundMedia, 12, 0, Date.UTC(2026, 0, 1));
    expect(path).toBe(`media/2026-01-01/${expected}`);
  });
});

describe("placeholders", () => {
  const placed = (...words: string[]) => words.map((text) => ({ placeholder: "[F]", text }));

  test.each([
    ["a [F] b [F] c", placed("1", "2"), "a 1 b 2 c"],
    ["[F]", placed("[F]", "2"), "[F]\n2"],
    ["no place", placed("1", "2"), "no place\n1\n2"],
    ["", placed("1"), "1"],
    ["[F] [F]", placed("1"), "1 [F]"],
    ["x", [{ placeholder: "", text: "1" }], "x\n1"],
  ])("of %j with %j are %j", (text, media, expected) => {
    expect(withMedia(text, media)).toBe(expected);
  });

  test("every file is told of once, and the rest of the text stays", () => {
    const word = fc.constantFrom("[F]", "[G]", "a", " ", "\n");
    const file = fc.record({
      placeholder: fc.constantFrom("[F]", "[G]"),
      text: fc.constantFrom("{1}", "{[F]}", "{[G]}"),
    });
    fc.assert(
      fc.property(
        fc.array(word).map((words) => words.join("")),
        fc.array(file, { maxLength: 5 }),
        (text, media) => {
          const result = withMedia(text, media);
          expect(result.match(/\{/g)?.length ?? 0).toBe(media.length);
          expect(result.match(/a/g)?.length ?? 0).toBe(text.match(/a/g)?.length ?? 0);
        },
      ),
    );
  });
});
