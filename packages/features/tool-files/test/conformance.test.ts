// The file tools keep what every tool keeps, and read on where they stopped without losing a character.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { fileList, fileRead as fileReadOf, fileWrite } from "../src/files.ts";
import definition from "../src/index.ts";

const fileRead = fileReadOf({ recipe: { profile: "home", with: ["x"], without: ["tool-http"] } });

featureConformance(definition, { root: `${import.meta.dirname}/..` });

const bad = [{ path: "" }, { path: 1 }, { path: "x", more: 1 }, { path: "x".repeat(5000) }];

toolConformance(fileRead, {
  input: { path: "notes.txt" },
  badInputs: [{}, ...bad, { path: "x", max_bytes: 0 }, { path: "x", max_bytes: 1e9 }, { path: "x", offset: -1 }],
  refused: [{ input: { path: "../x" }, code: "PATH_OUTSIDE_WORKSPACE" }],
  files: { "notes.txt": "hello" },
});

toolConformance(fileWrite, {
  input: { path: "new.txt", content: "hello" },
  badInputs: [
    { path: "x" },
    { path: "x", content: "y", mode: "truncate" },
    { path: "x", content: "y".repeat(1_048_577) },
  ],
  refused: [{ input: { path: "/etc/x", content: "y" }, code: "PATH_OUTSIDE_WORKSPACE" }],
});

toolConformance(fileList, {
  input: {},
  badInputs: [...bad, { limit: 0 }, { limit: 501 }],
  refused: [{ input: { path: "../.." }, code: "PATH_OUTSIDE_WORKSPACE" }],
  files: { "a/b.txt": "hello" },
});

test("reading asks nobody, writing asks", () => {
  expect([fileRead.approval, fileList.approval, fileWrite.approval]).toEqual(["auto", "auto", "ask"]);
});

const read = async (text: string, input: Record<string, unknown>) =>
  (await fileRead.run(
    v.parse(fileRead.input, { path: "a", ...input }),
    fakeToolContext({ files: { a: text } }),
  )) as Record<string, unknown>;

describe("file_read", () => {
  test("a whole file", async () => {
    expect(await read("grüß dich", {})).toEqual({ text: "grüß dich", truncated: false });
  });

  test.each(["héllo wörld €uro 😀 end", "😀😀😀", "plain"])(
    "%s in pieces of any size is the same text",
    async (text) => {
      for (let size = 4; size < 12; size += 1) {
        let offset: number | undefined = 0;
        let joined = "";
        while (offset !== undefined) {
          const part: Record<string, unknown> = await read(text, { offset, max_bytes: size });
          joined += part["text"];
          offset = part["next_offset"] as number | undefined;
        }
        expect(joined).toBe(text);
      }
    },
  );

  test("a cap smaller than one character still gets on", async () => {
    expect(await read("😀x", { max_bytes: 1 })).toMatchObject({ truncated: true, next_offset: 1 });
  });

  test("a binary file is only noted", async () => {
    expect(await read("a\0b", {})).toEqual({ note: expect.stringContaining("binary"), bytes: 3 });
  });
});

test("file_write and file_list do what they say", async () => {
  const context = fakeToolContext({ files: { "a/b.txt": "x" } });
  const write = (input: Record<string, unknown>) => fileWrite.run(v.parse(fileWrite.input, input), context);
  expect(await write({ path: "c.txt", content: "é" })).toEqual({ written_bytes: 2, mode: "replace" });
  expect(await write({ path: "c.txt", content: "!", mode: "append" })).toEqual({ written_bytes: 1, mode: "append" });
  expect(await fileList.run(v.parse(fileList.input, {}), context)).toEqual({
    entries: [
      { name: "a", kind: "directory", size: 0 },
      { name: "c.txt", kind: "file", size: 3 },
    ],
    truncated: false,
  });
  expect(await fileList.run(v.parse(fileList.input, { limit: 1 }), context)).toMatchObject({ truncated: true });
});

describe("file_read of a PDF", () => {
  const pdf = "%PDF-1.4\nnothing a person would read";
  const reader = (nextOffset: number | undefined, notes: readonly string[] = []) => ({
    type: "application/pdf",
    read: (path: string, { offset, maxBytes }: { offset: number; maxBytes: number }) =>
      Promise.resolve({ text: `${path} ${offset} ${maxBytes}`, nextOffset, notes }),
  });
  const run = (input: Record<string, unknown>, options: Parameters<typeof fakeToolContext>[0]) =>
    fileRead.run(v.parse(fileRead.input, input), fakeToolContext(options));

  test("gives what its reader makes of it, with the way to go on", async () => {
    const files = { "a.bin": pdf };
    const input = { path: "a.bin", offset: 7, max_bytes: 20 };
    expect(await run(input, { files, readers: [reader(27, ["Page 2 has no text."])] })).toEqual({
      text: "a.bin 7 20",
      truncated: true,
      next_offset: 27,
      notes: ["Page 2 has no text."],
    });
    expect(await run(input, { files, readers: [reader(undefined)] })).toEqual({ text: "a.bin 7 20", truncated: false });
    await expect(run(input, { files, readers: [reader(7)] })).rejects.toMatchObject({ code: "TOOL_FAILED" });
  });

  test("says how to build the feature where there is none, and shows nothing of the file", async () => {
    expect(await run({ path: "a.pdf" }, { files: { "a.pdf": `junk\n${pdf}` } })).toEqual({
      note: expect.stringMatching(/rag-pdf.*npx pnpm build home --with x,rag-pdf --without tool-http$/),
    });
  });

  test("a text that speaks of PDFs is a text, and so is one that is only called so", async () => {
    const readers = [reader(undefined)];
    expect(await run({ path: "a.md" }, { files: { "a.md": `begins with ${pdf}` }, readers })).toMatchObject({
      text: expect.stringContaining("begins"),
    });
    expect(await run({ path: "a.pdf" }, { files: { "a.pdf": "hello" }, readers })).toMatchObject({ text: "hello" });
  });
});
