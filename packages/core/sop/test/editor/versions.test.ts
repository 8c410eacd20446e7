// Versions of procedures: one that was deleted is lost, an undo takes away what somebody else wrote, or a secret is kept in a version.
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SopEditor } from "../../src/editor/editor.ts";
import { codeOf, type EditorFixture, editorFixture, MD, TOML } from "./editor-fixture.ts";

let fixture: EditorFixture;
let editor: SopEditor;
beforeEach(async () => {
  fixture = editorFixture();
  editor = fixture.editor;
  await editor.save("a", { toml: TOML, markdown: MD, revision: undefined }, "device phone");
});
afterEach(() => fixture.home.remove());

const text = (path: string): string => readFileSync(fixture.at(path), "utf8");
const described = (description: string): string => TOML.replace('"d"', `"${description}"`);
const change = async (toml: string, markdown: string | undefined = MD) =>
  editor.save("a", { toml, markdown, revision: (await editor.read("a")).revision }, "device laptop");
/** As the page does: looked at, then undone. */
const undo = async (number: number) => editor.undo(number, (await editor.version(number)).revision, "device phone");

describe("a version", () => {
  test("is kept of every write, with who and what, and shows its change line by line", async () => {
    const { version } = await change(described("e"));
    await editor.setEnabled("a", false, "x");
    expect(editor.versions()).toEqual([
      { version: 3, at: "1970-01-01T00:00:00.000Z", by: "x", keys: ["a"], what: "change" },
      { version: 2, at: "1970-01-01T00:00:00.000Z", by: "device laptop", keys: ["a"], what: "change" },
      { version: 1, at: "1970-01-01T00:00:00.000Z", by: "device phone", keys: ["a"], what: "create" },
    ]);
    const { changes, undo: back } = await editor.version(version!);
    const lines = changes[0]!.lines.filter(({ kind }) => kind !== "same");
    expect([changes.map(({ sop, file }) => [sop, file]), lines.map(({ kind, text: line }) => [kind, line])]).toEqual([
      [["a", "SOP.toml"]],
      [
        ["removed", 'description = "d" # why'],
        ["added", 'description = "e" # why'],
      ],
    ]);
    // An undo takes the switch back too: it was made after.
    expect(back[0]!.lines.map(({ kind, text: line }) => [kind, line])).toContainEqual(["removed", "enabled = false"]);
    expect(editor.versions("b")).toEqual([]);
  });

  test("lies where this user alone can read it", () => {
    const folder = join(fixture.home.path, "versions", "sops");
    expect([folder, join(folder, "1.json")].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  });

  test("is not kept of a save that changes nothing", async () => {
    expect((await change(TOML)).version).toBeUndefined();
    expect([editor.versions().length, fixture.audit.length]).toEqual([1, 1]);
  });

  test("is not kept of a refused write", async () => {
    expect(await codeOf(change("[sop"))).toBe("SOP_INVALID");
    expect(editor.versions()).toHaveLength(1);
  });
});

describe("an undo", () => {
  test("puts back byte for byte, SOP.md that was removed included, and is undone itself", async () => {
    const steps = `${described("e")}\n[[steps]]\ntitle = "Look"\nbody = "at it"\n`;
    const { version } = await editor.save(
      "a",
      { toml: steps, markdown: undefined, revision: (await editor.read("a")).revision },
      "x",
    );
    expect(existsSync(fixture.at("a/SOP.md"))).toBe(false);
    const undone = await undo(version!);
    expect([text("a/SOP.toml"), text("a/SOP.md")]).toEqual([TOML, MD]);
    expect(undone.revision).toBe((await editor.read("a")).revision);
    await undo(undone.version!);
    expect([text("a/SOP.toml"), existsSync(fixture.at("a/SOP.md"))]).toEqual([steps, false]);
  });

  test("of a creation deletes, of a deletion brings back", async () => {
    const { version, revision } = await undo(1);
    expect([revision, readdirSync(fixture.at(""))]).toEqual([undefined, []]);
    await undo(version!);
    expect(text("a/SOP.toml")).toBe(TOML);
    const deleted = await editor.delete("a", "x");
    expect(await codeOf(editor.read("a"))).toBe("SOP_UNKNOWN");
    await undo(deleted.version!);
    expect([text("a/SOP.toml"), text("a/SOP.md")]).toEqual([TOML, MD]);
  });

  test("that was looked at before an editor changed the files is refused", async () => {
    const { version } = await change(described("e"));
    const { revision } = await editor.version(version!);
    writeFileSync(fixture.at("a/SOP.md"), `${MD}2. **More**\n`);
    expect(await codeOf(editor.undo(version!, revision, "x"))).toBe("SOP_CHANGED");
    expect(text("a/SOP.md")).toContain("More");
  });

  test("to a text that would not load is refused, unless there is no procedure now", async () => {
    fixture.put("b/SOP.toml", "[sop\n");
    const { revision } = await editor.read("b");
    const corrected = await editor.save("b", { toml: TOML, markdown: MD, revision }, "x");
    expect(await codeOf(undo(corrected.version!))).toBe("SOP_INVALID");
    fixture.put("b/SOP.toml", "[sop\n");
    const deleted = await editor.delete("b", "x");
    await undo(deleted.version!);
    expect(text("b/SOP.toml")).toBe("[sop\n");
  });

  test("of none is refused; the oldest of more than 200 is forgotten", async () => {
    for (const number of [0, 2, -1, 1e9])
      expect(await codeOf(editor.undo(number, undefined, "x"))).toBe("VERSION_UNKNOWN");
    for (let times = 0; times < 201; times += 1) await editor.setEnabled("a", times % 2 === 1, "x");
    expect([editor.versions().length, await codeOf(editor.version(1))]).toEqual([200, "VERSION_UNKNOWN"]);
  });
});

describe("a deletion", () => {
  test("takes both files and the folder, and writes it down", async () => {
    const { revision } = await editor.read("a");
    await editor.delete("a", "device phone");
    expect(readdirSync(fixture.at(""))).toEqual([]);
    expect(fixture.audit.at(-1)).toEqual({
      kind: "sop-change",
      sop: "a",
      what: "delete",
      by: "device phone",
      version: 2,
      before: revision,
      after: null,
    });
    expect(await codeOf(editor.delete("a", "x"))).toBe("SOP_UNKNOWN");
  });

  test("leaves other files in the folder, and takes none of a procedure that there is not", async () => {
    fixture.put("a/check.sh", "true\n");
    await editor.delete("a", "x");
    expect(readdirSync(fixture.at("a"))).toEqual(["check.sh"]);
    for (const name of ["../workspace", "", ".", "A"])
      expect(await codeOf(editor.delete(name, "x"))).toBe("SOP_UNKNOWN");
  });
});

describe("a new name", () => {
  test("moves both files, in one version that leads back", async () => {
    await change(TOML.replace("[sop]\n", '[sop]\nname = "a"\n'));
    const renamed = await editor.rename("a", "b", "x");
    expect([renamed.name, readdirSync(fixture.at(""))]).toEqual(["b", ["b"]]);
    expect([text("b/SOP.toml"), text("b/SOP.md")]).toEqual([TOML, MD]);
    expect(editor.versions("a")[0]).toMatchObject({ what: "rename", keys: ["b", "a"] });
    expect(fixture.audit.slice(-2)).toMatchObject([
      { sop: "b", before: null, after: renamed.revision },
      { sop: "a", after: null },
    ]);
    await undo(renamed.version!);
    expect(readdirSync(fixture.at(""))).toEqual(["a"]);
    expect(text("a/SOP.toml")).toContain('name = "a"');
  });

  test("that is taken, wrong or its own is refused, and so is one for a folder with other files", async () => {
    await editor.save("b", { toml: TOML, markdown: MD, revision: undefined }, "x");
    expect(await codeOf(editor.rename("a", "b", "x"))).toBe("SOP_EXISTS");
    expect(await codeOf(editor.rename("a", "a", "x"))).toBe("SOP_EXISTS");
    expect(await codeOf(editor.rename("none", "c", "x"))).toBe("SOP_UNKNOWN");
    for (const name of ["../c", "C", "", "c/d"])
      expect(await codeOf(editor.rename("a", name, "x"))).toBe("SOP_INVALID");
    fixture.put("a/check.sh", "true\n");
    expect(await codeOf(editor.rename("a", "c", "x"))).toBe("SOP_UNWRITABLE");
    expect(readdirSync(fixture.at("")).toSorted()).toEqual(["a", "b"]);
  });
});

test("a secret of the config is never kept in a version, and shown in none that was kept before it was one", async () => {
  const secret = "hunter2-hunter2";
  await change(described(secret));
  const { version } = await change(described("e"));
  fixture.secret = secret;
  expect(JSON.stringify(await editor.version(version!))).not.toContain(secret);
  fixture.put("b/SOP.toml", described(secret));
  fixture.put("b/SOP.md", MD);
  expect(await codeOf(editor.delete("b", "x"))).toBe("SOP_UNWRITABLE");
  expect(await codeOf(editor.rename("b", "c", "x"))).toBe("SOP_UNWRITABLE");
  expect(editor.versions("b")).toEqual([]);
});
