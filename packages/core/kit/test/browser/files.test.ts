// Names and sizes of files are never the page's choice.
import { type ToolContext, SvcError } from "@svc/contract";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_FILE_BYTES, fileName, keepFile, uploads } from "../../src/browser/files.ts";

describe("a page's name for a file", () => {
  test.each([
    ["report.pdf", "report.pdf"],
    ["Bericht für März.pdf", "Bericht für März.pdf"],
    ["../../etc/passwd", "passwd"],
    ["..\\..\\autoexec.bat", "autoexec.bat"],
    ["/absolute/path.txt", "path.txt"],
    [".bashrc", "bashrc"],
    ["...", "file"],
    ["", "file"],
    ["a/", "file"],
    [".txt", "txt"],
    ["CON", "_CON"],
    ["nul.txt", "_nul.txt"],
    ["safe\u202Efdp.exe", "safefdp.exe"],
    ["a\u0000b\nc.txt", "abc.txt"],
    ["a;rm -rf ~;$(b).sh", "arm -rf (b).sh"],
    ["--flag", "flag"],
    ["a..b...c.txt", "a.b.c.txt"],
    ["x. . .", "x"],
  ])("%j becomes %j", (given, expected) => {
    expect(fileName(given)).toBe(expected);
  });

  test("is one part of a path, short, and says no more than a name", () => {
    const nasty = fc.string({
      unit: fc.constantFrom(..."abZ0 ./\\-_~$`;|\u0000\u0007\n\u202E\u2028\uD800\u00e9.."),
      maxLength: 300,
    });
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string({ unit: "binary", maxLength: 300 })), (given) => {
        const name = fileName(given);
        expect(name).toMatch(/^[^\s.-]/u);
        expect(name).not.toMatch(/[/\\<>:"|?*%~$`]|\p{C}|\.\.|[\s.]$/u);
        expect([...name].length).toBeLessThanOrEqual(101);
        expect(fileName(name).length).toBeLessThanOrEqual(name.length + 1);
      }),
      { numRuns: cases(2000) },
    );
  });

  test("a long one keeps its extension", () => {
    expect(fileName(`${"x".repeat(500)}.pdf`)).toBe(`${"x".repeat(96)}.pdf`);
  });
});

interface Written {
  readonly path: string;
  readonly bytes: number;
}

function contextOf(written: Written[], files: Readonly<Record<string, number>> = {}): ToolContext {
  const workspace = {
    async write(path: string, fill: (write: (chunk: Uint8Array) => Promise<void>) => Promise<unknown>) {
      let bytes = 0;
      await fill(async (chunk) => void (bytes += chunk.byteLength));
      written.push({ path, bytes });
    },
    async read(path: string, maxBytes: number) {
      const size = files[path];
      if (size === undefined) throw new SvcError("TOOL_FAILED");
      return { bytes: new Uint8Array(Math.min(size, maxBytes)), truncated: size > maxBytes };
    },
  };
  return { workspace } as unknown as ToolContext;
}

const clock = {
  now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
  monotonic: () => 0,
  after: () => () => {},
  sleep: async () => {},
};

test("a kept file is in the folder browser, under a name that was not there", async () => {
  const written: Written[] = [];
  const file = { name: "../a.txt", fill: (write: (chunk: Uint8Array) => Promise<void>) => write(new Uint8Array(5)) };
  const one = await keepFile(file, contextOf(written), clock);
  const other = await keepFile(file, contextOf(written), clock);
  expect(one.path).toMatch(/^browser\/20260102T030405-[0-9a-f]{8}-a\.txt$/);
  expect(other.path).not.toBe(one.path);
  expect(written).toEqual([one, other]);
});

test("a file larger than may be is refused while it is written", async () => {
  const written: Written[] = [];
  const piece = new Uint8Array(1_048_576);
  let pieces = 0;
  const endless = {
    name: "big",
    async fill(write: (chunk: Uint8Array) => Promise<void>) {
      for (;;) {
        await write(piece);
        pieces += 1;
      }
    },
  };
  await expect(keepFile(endless, contextOf(written), clock)).rejects.toMatchObject({ code: "TOO_LARGE" });
  expect(pieces).toBe(MAX_FILE_BYTES / piece.length);
  expect(written).toEqual([]);
});

test("uploads are read within one limit for all, by their last name", async () => {
  const files = { "a/b.txt": 10, "c.txt": MAX_FILE_BYTES - 10, "d.txt": 1 };
  const read = await uploads(["a/b.txt", "c.txt"], contextOf([], files).workspace);
  expect(read.map(({ name, bytes }) => [name, bytes.length])).toEqual([
    ["b.txt", 10],
    ["c.txt", MAX_FILE_BYTES - 10],
  ]);
  await expect(uploads(["a/b.txt", "c.txt", "d.txt"], contextOf([], files).workspace)).rejects.toMatchObject({
    code: "TOO_LARGE",
  });
});
