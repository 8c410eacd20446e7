// A save that is killed, or read, between its two files: half of the old procedure and half of the new one would run together.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { finishPending } from "../../src/editor/commit.ts";
import { checkSops } from "../../src/library/check.ts";
import { listFolders } from "../../src/library/folders.ts";
import { readFiles } from "../../src/library/files.ts";
import { codeOf, type EditorFixture, editorFixture, MD, TOML } from "./editor-fixture.ts";

let fixture: EditorFixture;
beforeEach(() => {
  fixture = editorFixture();
});
afterEach(() => fixture.home.remove());

const version = (text: string) => ({ toml: TOML.replace('"d"', `"${text}"`), markdown: `${MD}2. **${text}**\n` });

/** The folder of all procedures. */
const folder = (): string => dirname(fixture.at("a"));
const root = (): string => dirname(folder());

/** Every procedure as readers see it; a mix of two texts is named as such. */
async function seen(): Promise<Record<string, string>> {
  const { names } = await listFolders(folder());
  const read = await Promise.all(
    names.map(async (name) => [name, await readFiles(join(folder(), name), root())] as const),
  );
  return Object.fromEntries(
    read.flatMap(([name, { files }]) => {
      if (!files) return [];
      const [toml, markdown] = [/= "(.*?)"/, /2\. \*\*(.*?)\*\*/].map(
        (pattern, index) => pattern.exec([files.toml, files.markdown ?? ""][index]!)?.[1],
      );
      return [[name, toml === markdown ? toml! : `a mix of ${toml} and ${markdown}`]];
    }),
  );
}

/** A desk whose process dies before its `at`th write or removal; `done` counts them. */
function mortal(at: number) {
  const counter = { done: 0, isKilled: false };
  const step = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    // Nothing of the process goes on: the rollback neither.
    counter.isKilled ||= counter.done >= at;
    if (counter.isKilled) throw new Error("the process is dead");
    counter.done += 1;
    return act();
  };
  const editor = fixture.another((files) => ({
    ...files,
    write: (...given) => step(() => files.write(...given)),
    remove: (...given) => step(() => files.remove(...given)),
  }));
  return { editor, counter };
}

const CHANGES: Readonly<
  Record<string, { act: (editor: EditorFixture["editor"]) => Promise<unknown>; before: object; after: object }>
> = {
  create: {
    act: (editor) => editor.save("b", { ...version("new"), revision: undefined }, "x"),
    before: { a: "old" },
    after: { a: "old", b: "new" },
  },
  change: {
    act: async (editor) => editor.save("a", { ...version("new"), revision: (await editor.read("a")).revision }, "x"),
    before: { a: "old" },
    after: { a: "new" },
  },
  rename: { act: (editor) => editor.rename("a", "b", "x"), before: { a: "old" }, after: { b: "old" } },
  delete: { act: (editor) => editor.delete("a", "x"), before: { a: "old" }, after: {} },
};

describe.each(Object.entries(CHANGES))("%s", (_name, { act, before, after }) => {
  test("killed before each of its writes is seen as before or after, and finished by the next process", async () => {
    let kills = 0;
    let last: object = {};
    const outcomes = new Set<string>();
    for (let at = 0; ; at += 1) {
      fixture.home.remove();
      fixture = editorFixture();
      await fixture.editor.save("a", { ...version("old"), revision: undefined }, "x");
      const { editor, counter } = mortal(at);
      await act(editor).catch(() => undefined);
      const now = await seen();
      outcomes.add(JSON.stringify(now));
      expect([before, after]).toContainEqual(now);
      // The process that comes after writes the files, which then say the same without the record.
      await finishPending(fixture.files, folder(), root());
      expect(await seen()).toEqual(now);
      expect(readdirSync(folder()).filter((name) => name.startsWith("."))).toEqual([]);
      last = now;
      if (!counter.isKilled) break;
      kills += 1;
    }
    expect(last).toEqual(after);
    expect(kills).toBeGreaterThanOrEqual(4);
    expect(outcomes).toEqual(new Set([JSON.stringify(before), JSON.stringify(after)]));
  });
});

test("readers beside 200 saves see the old text or the new one, never a file of each", async () => {
  await fixture.editor.save("a", { ...version("0"), revision: undefined }, "x");
  const writing = { isDone: false };
  const mixes: string[] = [];
  let looks = 0;
  const read = async (): Promise<void> => {
    while (!writing.isDone) {
      const { a } = await seen();
      if (a === undefined || a.startsWith("a mix")) mixes.push(String(a));
      looks += 1;
      const [checked] = await checkSops(folder(), { defaultMode: "auto", reserved: [], known: { nowMs: 0 } });
      if (checked?.definition?.description !== checked?.definition?.steps[1]?.title)
        mixes.push("a mix of a definition");
    }
  };
  const readers = Promise.all([read(), read(), read()]);
  for (let saves = 1; saves <= 200; saves += 1) {
    const { revision } = await fixture.editor.read("a");
    await fixture.editor.save("a", { ...version(String(saves)), revision }, "x");
  }
  writing.isDone = true;
  await readers;
  expect(mixes).toEqual([]);
  expect(looks).toBeGreaterThan(0);
});

/** A desk that can't write one file. */
const failing = (isRefused: (path: string, calls: number) => boolean) => {
  let calls = 0;
  return fixture.another((files) => ({
    ...files,
    write: async (path, content, mode) => {
      calls += 1;
      if (isRefused(path, calls)) throw new SvcError("TOOL_FAILED", "The disk is full; nothing was written.");
      await files.write(path, content, mode);
    },
  }));
};

describe("a disk that is full", () => {
  beforeEach(async () => {
    await fixture.editor.save("a", { ...version("old"), revision: undefined }, "x");
  });
  const save = async (editor: EditorFixture["editor"]) =>
    editor.save("a", { ...version("new"), revision: (await editor.read("a")).revision }, "x");

  test("at the record, at the first or at the second file refuses the save and changes nothing, a version neither", async () => {
    for (const file of [".pending.json", "SOP.md", "SOP.toml"]) {
      const editor = failing((path, calls) => path.endsWith(file) && calls <= 3);
      expect(await codeOf(save(editor))).toBe("SOP_UNWRITABLE");
      expect(await seen()).toEqual({ a: "old" });
      expect(readFileSync(fixture.at("a/SOP.md"), "utf8")).toBe(version("old").markdown);
      expect(readdirSync(folder())).toEqual(["a"]);
      expect(editor.versions()).toHaveLength(1);
    }
  });

  test("that takes the way back too leaves the change in force, and the next save finishes it", async () => {
    const editor = failing((path, calls) => path.endsWith("SOP.toml") || calls > 3);
    await save(editor);
    expect(readFileSync(fixture.at("a/SOP.toml"), "utf8")).toBe(version("old").toml);
    expect(await seen()).toEqual({ a: "new" });
    await fixture.editor.setEnabled("a", false, "x");
    expect(await seen()).toEqual({ a: "new" });
    expect(readFileSync(fixture.at("a/SOP.toml"), "utf8")).toContain("enabled = false");
    expect(readdirSync(folder())).toEqual(["a"]);
  });
});

test("a change that was left behind gives way to what an editor wrote since", async () => {
  await fixture.editor.save("a", { ...version("old"), revision: undefined }, "x");
  const { editor, counter } = mortal(3);
  const { revision } = await editor.read("a");
  await editor.save("a", { ...version("new"), revision }, "x").catch(() => undefined);
  expect([counter.isKilled, await seen()]).toEqual([true, { a: "new" }]);
  const own = version("by hand");
  writeFileSync(fixture.at("a/SOP.toml"), own.toml);
  writeFileSync(fixture.at("a/SOP.md"), own.markdown);
  expect(await seen()).toEqual({ a: "by hand" });
  await finishPending(fixture.files, folder(), root());
  expect(await seen()).toEqual({ a: "by hand" });
});

test("a record that somebody else wrote is none, and is removed by the next save", async () => {
  await fixture.editor.save("a", { ...version("old"), revision: undefined }, "x");
  const replaced = { before: version("old"), after: version("theirs") };
  for (const text of [
    "",
    "[]",
    "null",
    '{"version":1}',
    JSON.stringify({ version: 2, procedures: { a: replaced } }),
    JSON.stringify({ version: 1, procedures: { "../a": replaced } }),
    JSON.stringify({ version: 1, procedures: { a: { before: {}, after: { toml: 1 } } } }),
    JSON.stringify({ version: 1, procedures: { a: null } }),
  ]) {
    writeFileSync(fixture.at(".pending.json"), text);
    expect(await seen()).toEqual({ a: "old" });
  }
  await fixture.editor.setEnabled("a", false, "x");
  expect(readdirSync(folder())).toEqual(["a"]);
});
