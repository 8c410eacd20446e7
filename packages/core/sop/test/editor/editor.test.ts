// Files of procedures that are overwritten, half written, written outside, written wrong, or by whom nobody knows.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SopEditor } from "../../src/editor/editor.ts";
import { templateOf } from "../../src/editor/draft.ts";
import { codeOf, type EditorFixture, editorFixture, MD, TOML } from "./editor-fixture.ts";

let fixture: EditorFixture;
let editor: SopEditor;

beforeEach(() => {
  fixture = editorFixture();
  editor = fixture.editor;
});
afterEach(() => fixture.home.remove());

const at = (path: string): string => fixture.at(path);
const put = (path: string, text: string): void => fixture.put(path, text);

test("a new one is made of the template, loaded and written down; its name is taken then", async () => {
  const { toml, markdown, problems, form } = await editor.check("tidy", undefined, []);
  expect([problems, form]).toMatchObject([[], { sop: { enabled: false }, steps: [{ title: "First step" }] }]);
  const saved = await editor.save("tidy", { toml, markdown, revision: undefined }, "device phone");
  expect([readFileSync(at("tidy/SOP.toml"), "utf8"), readFileSync(at("tidy/SOP.md"), "utf8")]).toEqual([
    toml,
    markdown,
  ]);
  expect(fixture.reloads).toBe(1);
  expect(fixture.audit).toEqual([
    {
      kind: "sop-change",
      sop: "tidy",
      what: "create",
      by: "device phone",
      version: 1,
      before: null,
      after: saved.revision,
    },
  ]);
  expect(await codeOf(editor.save("tidy", { toml, markdown, revision: undefined }, "x"))).toBe("SOP_EXISTS");
  expect((await editor.read("tidy")).revision).toBe(saved.revision);
});

test("of two editors the second is refused, and so is one whom an editor of files overtook", async () => {
  put("a/SOP.toml", TOML);
  put("a/SOP.md", MD);
  const { revision } = await editor.read("a");
  const change = (description: string) => ({ toml: TOML.replace('"d"', description), markdown: MD, revision });
  const both = await Promise.all([
    codeOf(editor.save("a", change('"1"'), "x")),
    codeOf(editor.save("a", change('"2"'), "x")),
  ]);
  expect(both).toEqual([undefined, "SOP_CHANGED"]);
  expect(readFileSync(at("a/SOP.toml"), "utf8")).toContain('"1"');
  const again = await editor.read("a");
  put("a/SOP.md", `${MD}2. **More**\n`);
  expect(await codeOf(editor.save("a", { ...change('"3"'), revision: again.revision }, "x"))).toBe("SOP_CHANGED");
  expect(readFileSync(at("a/SOP.md"), "utf8")).toContain("More");
});

test("what is wrong is refused with file and line, and nothing is written", async () => {
  const wrong = TOML.replace("[[triggers]]", 'priority = "urgent"\n\n[[triggers]]');
  const refused = await editor
    .save("a", { toml: wrong, markdown: MD, revision: undefined }, "x")
    .catch((error: Error) => error);
  expect(refused).toMatchObject({ code: "SOP_INVALID", message: expect.stringContaining("SOP.toml:5  sop.priority") });
  const noStep = await editor
    .save("a", { toml: TOML, markdown: "## Steps\n", revision: undefined }, "x")
    .catch((error: Error) => error);
  expect(noStep).toMatchObject({ code: "SOP_INVALID", message: expect.stringContaining("SOP.md") });
  expect(existsSync(at("a"))).toBe(false);
  for (const name of ["../x", "A", "", ".", "a/b", "a".repeat(65), "__proto__"]) {
    expect(await codeOf(editor.save(name, { toml: TOML, markdown: MD, revision: undefined }, "x"))).toBe("SOP_INVALID");
  }
  const half = { toml: TOML.replace("# mine", "# \ud800"), markdown: MD, revision: undefined };
  expect(await codeOf(editor.save("a", half, "x"))).toBe("SOP_INVALID");
  const huge = { toml: TOML, markdown: `${MD}\n${"x".repeat(256 * 1024)}`, revision: undefined };
  expect(await codeOf(editor.save("a", huge, "x"))).toBe("SOP_INVALID");
  expect(existsSync(join(fixture.home.path, "workspace", "sops"))).toBe(false);
});

test("a switch and a copy change one key and keep comments; a copy is off, and has no name of the other", async () => {
  put("a/SOP.toml", TOML.replace("[sop]\n", '[sop]\nname = "a"\n'));
  put("a/SOP.md", MD);
  await editor.setEnabled("a", false, "x");
  const off = readFileSync(at("a/SOP.toml"), "utf8");
  expect(off).toContain("enabled = false");
  expect(
    off
      .split("\n")
      .filter((line) => !line.startsWith("enabled"))
      .join("\n"),
  ).toBe(TOML.replace("[sop]\n", '[sop]\nname = "a"\n'));
  await editor.setEnabled("a", true, "x");
  expect(readFileSync(at("a/SOP.toml"), "utf8")).toContain("enabled = true");
  await editor.duplicate("a", "b", "x");
  expect(await editor.read("b")).toMatchObject({ form: { sop: { enabled: false, description: "d" } }, problems: [] });
  expect(readFileSync(at("b/SOP.toml"), "utf8")).toContain("# mine");
  expect(await codeOf(editor.duplicate("a", "b", "x"))).toBe("SOP_EXISTS");
  expect(await codeOf(editor.duplicate("none", "c", "x"))).toBe("SOP_UNKNOWN");
  expect(await codeOf(editor.setEnabled("none", true, "x"))).toBe("SOP_UNKNOWN");
});

test("a broken one can be read and corrected; one whose files are no text says so", async () => {
  put("a/SOP.toml", "[sop\n");
  const { problems, form, revision } = await editor.read("a");
  expect([problems.length, form]).toEqual([1, null]);
  await editor.save("a", { toml: TOML, markdown: MD, revision }, "x");
  put("b/SOP.toml", "\0");
  writeFileSync(at("b/SOP.toml"), Buffer.from([0xff, 0xfe]));
  expect(await codeOf(editor.read("b"))).toBe("SOP_INVALID");
  expect(await codeOf(editor.read("../a"))).toBe("SOP_UNKNOWN");
});

test("what is read through a link that leads out of the workspace is refused", async () => {
  const outside = join(fixture.home.path, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "SOP.toml"), TOML);
  mkdirSync(join(fixture.home.path, "workspace", "sops"));
  symlinkSync(outside, at("a"));
  expect(await codeOf(editor.read("a"))).toBe("SOP_INVALID");
});

test("a secret of the config is neither shown nor lost", async () => {
  const secret = "hunter2-hunter2";
  fixture.secret = secret;
  put("a/SOP.toml", TOML.replace('"d"', `"${secret}"`));
  put("a/SOP.md", MD);
  const read = await editor.read("a");
  expect(JSON.stringify(read)).not.toContain(secret);
  expect(read.unwritable).toContain("secret");
  expect(await codeOf(editor.save("a", { ...read, revision: read.revision }, "x"))).toBe("SOP_UNWRITABLE");
  expect(await codeOf(editor.setEnabled("a", false, "x"))).toBe("SOP_UNWRITABLE");
  expect(await codeOf(editor.duplicate("a", "b", "x"))).toBe("SOP_UNWRITABLE");
  expect(readFileSync(at("a/SOP.toml"), "utf8")).toContain(secret);
});

test("a change that can't be audited is taken back", async () => {
  const saved = await editor.save("a", { toml: TOML, markdown: MD, revision: undefined }, "x");
  fixture.auditError = new SvcError("STORE_FULL");
  const more = { toml: TOML, markdown: `${MD}2. **More**\n` };
  const refused = [
    editor.save("a", { ...more, revision: saved.revision }, "x"),
    editor.save("b", { ...more, revision: undefined }, "x"),
    editor.rename("a", "c", "x"),
    editor.delete("a", "x"),
  ].map((made) => made.catch((error: SvcError) => [error.code, error.message, error.hint]));
  expect(new Set((await Promise.all(refused)).map(String))).toEqual(
    new Set([
      "SOP_UNWRITABLE,The files were not changed: The disk is full; nothing was accepted.,Free some space, then save again.",
    ]),
  );
  expect(readdirSync(at(""))).toEqual(["a"]);
  expect([readFileSync(at("a/SOP.toml"), "utf8"), readFileSync(at("a/SOP.md"), "utf8")]).toEqual([TOML, MD]);
  expect([editor.versions().length, fixture.audit.length, fixture.reloads]).toEqual([1, 1, 1]);
  fixture.auditError = undefined;
  await editor.rename("a", "c", "x");
  expect(fixture.audit.slice(1)).toMatchObject([{ sop: "c" }, { sop: "a" }]);
});

test("the template is right", () => {
  expect(templateOf("x").toml).toContain("enabled = false");
});
