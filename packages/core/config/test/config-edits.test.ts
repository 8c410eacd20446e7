// bug this exists for: a settings page that damages a file which a person wrote: comments, order, dotted keys, inline tables, lists.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ConfigEdit, type ConfigValue, applyConfigEdits } from "../src/index.ts";
import { copyValue, type Path, type Table, valueAt } from "../src/table.ts";
import { parseToml } from "../src/toml.ts";

const remove = (text: string, path: Path) => applyConfigEdits(text, [{ path, remove: true }]);
const set = (text: string, path: Path, value: ConfigValue) => applyConfigEdits(text, [{ path, value }]);

describe("removes", () => {
  test.each([
    ["a key with its line and what is said on it", "[t]\na = 1 # c\nb = 2\n", ["t", "a"], "[t]\nb = 2\n"],
    ["and not the comment above", "# about a\na = 1\nb = 2\n", ["a"], "# about a\nb = 2\n"],
    ["with the file's line breaks", "[t]\r\na = 1\r\nb = 2\r\n", ["t", "a"], "[t]\r\nb = 2\r\n"],
    ["the last line of a file", "a = 1\nb = 2", ["b"], "a = 1\n"],
    ["a value of several lines", 'a = """\nx\n"""\nb = 2\n', ["a"], "b = 2\n"],
    ["a dotted key", "a.b = 1\na.c = 2\n", ["a", "b"], "a.c = 2\n"],
    ["dotted keys together", "a.b = 1\na.c = 2\nd = 3\n", ["a"], "d = 3\n"],
    ["a table with its header", "[a]\nx = 1\n\n[b]\ny = 1\n", ["b"], "[a]\nx = 1\n"],
    ["and the tables below it, wherever they are", "[a.x]\nk = 1\n[b]\n[a.y]\n[a]\n", ["a"], "[b]\n"],
    ["the first pair of an inline table", "t = { a = 1, b = 2 }", ["t", "a"], "t = { b = 2 }"],
    ["the last pair of an inline table", "t = { a = 1, b = 2 } # c", ["t", "b"], "t = { a = 1 } # c"],
    ["the only pair of an inline table", "t = { a = 1 }", ["t", "a"], "t = {  }"],
    ["a table inside an inline table", "t = { m.a = 1, m.b = 2, c = 3 }", ["t", "m"], "t = { c = 3 }"],
    ["all dotted pairs of an inline table", "t = { m.a = 1, m.b = 2 }", ["t", "m"], "t = {  }"],
    ["the first item of a list", "a = ['x', 'y']", ["a", 0], "a = ['y']"],
    ["the last item of a list", "a = ['x', 'y']", ["a", 1], "a = ['x']"],
    ["an item on a line of its own", "a = [\n  'x', # c\n  'y', # d\n]\n", ["a", 0], "a = [\n  'y', # d\n]\n"],
    ["the last item on a line of its own", "a = [\n  'x',\n  'y'\n]\n", ["a", 1], "a = [\n  'x'\n]\n"],
    ["a table of a list", "[[t]]\nk = 1\n[[t]]\nk = 2\n", ["t", 0], "[[t]]\nk = 2\n"],
    ["with the tables below it", "[[t]]\n[t.u]\nk = 1\n[[t]]\n[t.u]\nk = 2\n", ["t", 1], "[[t]]\n[t.u]\nk = 1\n"],
    ["a key of a table of a list", "[[t]]\nk = 1\n[[t]]\nk = 2\n", ["t", 1, "k"], "[[t]]\nk = 1\n[[t]]\n"],
    ["nothing where nothing is", "a = 1\n", ["b", "c"], "a = 1\n"],
  ] as const)("%s", async (_what, text, path, result) => {
    expect(await remove(text, path as Path)).toBe(result);
  });
});

describe("sets", () => {
  test.each([
    ["one more table of a list", "[[t]]\nk = 1 # c\n\n[u]\n", ["t", 1], "[[t]]\nk = 1 # c\n\n[[t]]\nk = 2\n\n[u]\n"],
    [
      "behind the tables below the last one",
      "[[t]]\n[t.u]\nl = 1\n",
      ["t", 1],
      "[[t]]\n[t.u]\nl = 1\n\n[[t]]\nk = 2\n",
    ],
    ["one more inline table of a list", "t = [{ k = 1 }]\n", ["t", 1], "t = [{ k = 1 }, { k = 2 }]\n"],
  ] as const)("%s", async (_what, text, path, result) => {
    expect(await set(text, path as Path, { k: 2 })).toBe(result);
  });

  test("a list item by item, so that comments in it stay", async () => {
    const list = "a = [\n  'x', # of x\n  'y', # of y\n  'z', # of z\n]\n";
    expect(await set(list, ["a"], ["x", "z"])).toBe(list.replace("  'y', # of y\n", ""));
    expect(await set(list, ["a"], ["x", "y", "z", "w"])).toContain("# of z");
    expect(await set(list, ["a"], ["x", "v", "z"])).toBe(list.replace("'y'", '"v"'));
    expect(await set(list, ["a"], [])).not.toContain("'");
  });

  test("the same value again changes no byte of it", async () => {
    const text = "a = 0x10 # sixteen\nb = 'x'\n";
    expect(
      await applyConfigEdits(text, [
        { path: ["a"], value: 16 },
        { path: ["b"], value: "x" },
      ]),
    ).toBe(text);
  });

  test("a list in the place of tables", async () => {
    expect(await set("[[t.l]]\nk = 1\n[[t.l]]\nk = 2\n[u]\n", ["t", "l"], [{ k: 3 }])).toContain("{ k = 3 }");
  });
});

test("an edit that can't be made names the line", async () => {
  await expect(set("a = 1\nt = 1\n", ["t", "u"], 1)).rejects.toMatchObject({
    code: "CONFIG_UNWRITABLE",
    message: expect.stringContaining("line 2"),
  });
  await expect(set("a = 1\na = 2\n", ["b"], 1)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("line 2"),
  });
});

/** Pieces of a file, each with the paths that its lines are about. */
const PIECES: readonly { readonly lines: string; readonly about: readonly Path[] }[] = [
  { lines: "# a comment of its own", about: [] },
  { lines: "", about: [] },
  { lines: "[a]\nx = 1 # the x of a\n# below x\ny = 'two'", about: [["a"]] },
  { lines: "[a.b]\nx = [1, 2, 3]", about: [["a", "b"]] },
  { lines: "[c]\nd.e = true\nd.f = false\ng = { h = 1, i.j = 2, i.k = [ 'x' , 'y' ] } # inline", about: [["c"]] },
  { lines: "[c.m]\nlist = [\n  'x', # first\n  'y',\n  # between\n  'z'\n]", about: [["c", "m"]] },
  { lines: "[[t]]\nk = 1\n[[t]]\nk = 2\n[t.u]\nv = 3", about: [["t"]] },
  { lines: '["q.r"]\n  "s t" = """\n\\\n  x\n"""', about: [["q.r"]] },
  { lines: "[z]\nw = 1979-05-27\nempty = ''\ntables = [ { n = 1 }, { n = 2, m = {} } ]", about: [["z"]] },
];

const file = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...PIECES), { maxLength: 9 }),
    fc.constantFrom("\n", "\r\n"),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([pieces, eol, ends, top]) => {
    const all = top ? [{ lines: "top.n = 1 # top\ntop.m = 2", about: [["top"]] as Path[] }, ...pieces] : pieces;
    const lines = all.flatMap(({ lines: text, about }) => text.split("\n").map((line) => ({ line, about })));
    return { lines, text: lines.map(({ line }) => line).join(eol) + (ends ? eol : "") };
  });

const PATHS: readonly Path[] = [
  ["top"], ["top", "n"], ["a"], ["a", "x"], ["a", "b"], ["a", "b", "x"], ["a", "b", "x", 1], ["a", "new"], ["c"],
  ["c", "d"], ["c", "d", "e"], ["c", "d", "new"], ["c", "g"], ["c", "g", "i"], ["c", "g", "i", "k", 0], ["c", "g", "h"],
  ["c", "m"], ["c", "m", "list"], ["c", "m", "list", 0], ["c", "m", "list", 2], ["c", "m", "list", 3], ["t"], ["t", 0],
  ["t", 1, "k"], ["t", 1, "u"], ["t", 2], ["q.r", "s t"], ["z", "w"], ["z", "empty"], ["z", "tables", 0],
  ["z", "tables", 1, "m"], ["z", "tables", 2], ["new"], ["new", "table", "key"], ["__proto__", "x"],
]; // prettier-ignore

const value: fc.Arbitrary<ConfigValue> = fc.oneof(
  fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed()),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }),
  fc.constant({ k: 7, l: ["x"] }),
);
const edit: fc.Arbitrary<ConfigEdit> = fc.oneof(
  fc.record({ path: fc.constantFrom(...PATHS), value }),
  fc.record({ path: fc.constantFrom(...PATHS), remove: fc.constant(true as const) }),
);

test("10 000 random edits keep every line they are not about, in order; or are refused", async () => {
  let done = 0;
  let changed = 0;
  const refusals = new Set<string>();
  await fc.assert(
    fc.asyncProperty(file, edit, async ({ text, lines }, one) => {
      const before = await tableOf(text);
      fc.pre(before !== undefined);
      done += 1;
      const edited = await applyConfigEdits(text, [one]).catch((error: unknown) => error as Error & { code: string });
      if (edited instanceof Error) {
        refusals.add(edited.code);
        return;
      }
      if (edited !== text) changed += 1;
      const after = (await tableOf(edited))!;
      const [said, meant] =
        "remove" in one
          ? [tableIn(after, one.path), tableIn(without(before!, one.path), one.path)]
          : [valueAt(after, one.path), copyValue(one.value)];
      expect(said).toEqual(meant);
      const kept = lines.filter(({ about }) => !about.some((path) => path[0] === one.path[0]));
      inOrder(
        kept.map(({ line }) => line),
        edited.split(/\r?\n/),
      );
      expect("remove" in one && valueAt(before!, one.path) === undefined ? edited : text).toBe(text);
      const others = Object.keys(before!).filter((name) => name !== one.path[0]);
      expect(others.map((name) => after[name])).toEqual(others.map((name) => before![name]));
      expect(edited).not.toMatch(text.includes("\r\n") ? /(?<!\r)\n/ : /\r\n/);
    }),
    { numRuns: cases(10_000) },
  );
  expect([...refusals].filter((code) => code !== "CONFIG_UNWRITABLE")).toEqual([]);
  expect(changed).toBeGreaterThan(done / 3);
});

const tableOf = async (text: string): Promise<Table | undefined> => {
  const parsed = await parseToml(text);
  return "table" in parsed ? parsed.table : undefined;
};

/** What is around the path; a table without keys may be gone as well. */
function tableIn(table: Table, path: Path): unknown {
  const holder = valueAt(table, path.slice(0, -1));
  const isEmpty = typeof holder === "object" && holder !== null && Object.keys(holder).length === 0;
  return isEmpty && path.length > 1 ? undefined : holder;
}

function without(table: Table, path: Path): Table {
  const copy = copyValue(table) as Table;
  const holder = valueAt(copy, path.slice(0, -1));
  const name = path.at(-1)!;
  if (Array.isArray(holder)) holder.splice(name as number, 1);
  else if (holder !== undefined) delete (holder as Table)[name];
  return copy;
}

/** Blank lines may have gone with a table. */
function inOrder(kept: readonly string[], lines: readonly string[]): void {
  let at = 0;
  for (const line of kept) {
    if (line === "") continue;
    const found = lines.indexOf(line, at);
    expect(found, `${JSON.stringify(line)} in ${JSON.stringify(lines)}`).toBeGreaterThanOrEqual(at);
    at = found + 1;
  }
}
