// bug this exists for: an editor that rewrites the whole file takes the operator's comments, or the meaning of a neighbour.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ConfigChange, type ConfigValue, setConfigValues } from "../src/index.ts";
import { copyValue, type Path, type Table } from "../src/table.ts";
import { parseToml } from "../src/toml.ts";

const set = (text: string, path: Path, value: ConfigValue) => setConfigValues(text, [{ path, value }]);
const refused = expect.objectContaining({ code: "CONFIG_UNWRITABLE" });

describe("in place", () => {
  test.each([
    ["a = 1 # c\n", ["a"], 2, "a = 2 # c\n"],
    ["a = '''\nx\ny''' # c\n", ["a"], "z", 'a = "z" # c\n'],
    ['a = """x""\ny"""', ["a"], "z", 'a = "z"'],
    ["a.b.c = true", ["a", "b", "c"], false, "a.b.c = false"],
    ['[a."b.c"]\nd = 1\r\n', ["a", "b.c", "d"], "x", '[a."b.c"]\nd = "x"\r\n'],
    ["a = { b = 1, c = [ 'x', 'y' ] }", ["a", "c", 1], "z", "a = { b = 1, c = [ 'x', \"z\" ] }"],
    ["a = [ # c\n 'x', # d\n 'y', ]", ["a", 0], "z", "a = [ # c\n \"z\", # d\n 'y', ]"],
    ["[[t]]\nk = 1\n[[t]]\nk = 2\n", ["t", 1, "k"], 3, "[[t]]\nk = 1\n[[t]]\nk = 3\n"],
    ["a = 'é𝄞' \r\nb = '𝄞'\r\n", ["b"], "x", "a = 'é𝄞' \r\nb = \"x\"\r\n"],
  ] as const)("%j: %j = %j", async (text, path, value, result) => {
    expect(await set(text, path, value)).toBe(result);
  });
});

describe("a key that is not there", () => {
  test.each([
    ["goes behind the last of its table", "[t]\na = 1 # c\n\n[u]\n", ["t", "b"], '[t]\na = 1 # c\nb = "x"\n\n[u]\n'],
    ["into an empty table", "[t] # c\n# d\n[u]", ["t", "b"], '[t] # c\nb = "x"\n# d\n[u]'],
    ["indented as its neighbour", "[t]\n  a = [\n 1 ]\n", ["t", "b"], '[t]\n  a = [\n 1 ]\n  b = "x"\n'],
    ["with the file's line breaks", "[t]\r\na = 1\r\n", ["t", "b"], '[t]\r\na = 1\r\nb = "x"\r\n'],
    ["where the file ends without one", "[t]\na = 1", ["t", "b"], '[t]\na = 1\nb = "x"'],
    ["into a new table at the end", "# c\n[t]\n", ["u", "b"], '# c\n[t]\n\n[u]\nb = "x"\n'],
    ["into a new table of an empty file", "", ["u", "v", "b"], '[u.v]\nb = "x"\n'],
    [
      "into a new table beside its kin",
      "[a.x]\nk = 1\n\n# about b\n[b]\n",
      ["a", "x", "m", "b"],
      '[a.x]\nk = 1\n\n[a.x.m]\nb = "x"\n\n# about b\n[b]\n',
    ],
    [
      "into a new table behind the comments of its kin, where a key may be shown",
      '[a]\nk = 1\n# l = ""\n  # m = ""\n\n[b]\n',
      ["a", "x", "b"],
      '[a]\nk = 1\n# l = ""\n  # m = ""\n\n[a.x]\nb = "x"\n\n[b]\n',
    ],
    [
      "and before those of the next table",
      "[a]\nk = 1\n# about b\n[b]\n",
      ["a", "x", "b"],
      '[a]\nk = 1\n\n[a.x]\nb = "x"\n# about b\n[b]\n',
    ],
    [
      "into a table that only its children made",
      "[a.x.y]\nk = 1\n",
      ["a", "x", "b"],
      '[a.x.y]\nk = 1\n\n[a.x]\nb = "x"\n',
    ],
    ["into an inline table", "t = { a = 1 } # c", ["t", "b"], 't = { a = 1, b = "x" } # c'],
    ["into an empty inline table", "t = {}", ["t", "b"], 't = { b = "x" }'],
    ["as a table in an inline table", "t = { a = 1 }", ["t", "m", "b"], 't = { a = 1, m.b = "x" }'],
    ["beside dotted keys", "[t]\nm.a = 1\nz = 1\n", ["t", "m", "b"], '[t]\nm.a = 1\nm.b = "x"\nz = 1\n'],
    ["beside dotted keys, deeper", "m.a = 1\n[z]", ["m", "n", "b"], 'm.a = 1\nm.n.b = "x"\n[z]'],
    ["into an inline table of a list", "t = [{ a = 1 }, {}]", ["t", 1, "b"], 't = [{ a = 1 }, { b = "x" }]'],
    ["into a table of a list", "[[t]]\na = 1\n[[t]]\n", ["t", 0, "b"], '[[t]]\na = 1\nb = "x"\n[[t]]\n'],
    [
      "into a new table of a list's item",
      "[[t]]\na = 1\n[[t]]\n",
      ["t", 0, "m", "b"],
      '[[t]]\na = 1\n\n[t.m]\nb = "x"\n[[t]]\n',
    ],
    ["before the first table", "#:schema x\n[t]", ["b"], '#:schema x\nb = "x"\n\n[t]'],
    ["behind the last item of a list", "a = ['y', # c\n]", ["a", 1], "a = ['y', \"x\", # c\n]"],
    ["into an empty list", "a = [ # c\n]", ["a", 0], 'a = ["x" # c\n]'],
    ["as a new list", "[t]\n", ["t", "a", 0], '[t]\na = ["x"]\n'],
    ["under a name that must be quoted", "[p]\n", ["p", 'gpt-5.2 "x"', "b"], '[p]\n\n[p."gpt-5.2 \\"x\\""]\nb = "x"\n'],
  ] as const)("%s", async (_what, text, path, result) => {
    expect(await set(text, path as Path, "x")).toBe(result);
  });

  test("several at once find what the ones before them made", async () => {
    const changes = ["name", "api_key"].map((key) => ({ path: ["agents", "a", "model", key], value: key }));
    expect(await setConfigValues("", [...changes, { path: ["agents", "a", "tools"], value: ["x", "y"] }])).toBe(
      '[agents.a.model]\nname = "name"\napi_key = "api_key"\n\n[agents.a]\ntools = ["x", "y"]\n',
    );
  });
});

describe("what can't be done is refused", () => {
  test.each([
    ["a value where a table is", "[t.u]\n", ["t"]],
    ["a value where a table's child is", "[t.u]\nk = 1\n", ["t", "u"]],
    ["a value where dotted keys are", "t.u.v = 1", ["t", "u"]],
    ["a table where a value is", "t = 1", ["t", "u"]],
    ["a table where a list is", "t = [1]", ["t", "u"]],
    ["an item that leaves a gap", "t = [1]", ["t", 2]],
    ["an item of a list of tables", "[[t]]\n", ["t", 1]],
    ["a table in an item that is none", "t = [1]", ["t", 0, "u"]],
    ["a name that objects inherit, in a list", "t = [1]", ["t", "__proto__", "u"]],
    ["a name that objects inherit, in a list of tables", "[[t]]", ["t", "__proto__", "u"]],
  ] as const)("%s", async (_what, text, path) => {
    await expect(set(text, path as Path, "x")).rejects.toEqual(refused);
    expect("u" in []).toBe(false);
  });

  test("a lone surrogate, which no file can hold", async () => {
    await expect(set("t = 1", ["t"], "\ud800")).rejects.toEqual(refused);
  });

  test("as is a text that is no TOML, without a word of it", async () => {
    const error = await set("a = sk-planted", ["b"], 1).catch((error: unknown) => error as Error);
    expect(error).toMatchObject({ code: "CONFIG_INVALID" });
    expect((error as Error).message).toBe(
      "The config is not TOML: line 1, column 5: a value belongs here: text in quotes, a number, true, false or a list.",
    );
  });
});

test("the only line breaks of a text are kept when they go with a value", async () => {
  const text = "c = [\r\n  'x', # c\r\n]";
  const changes = [
    { path: ["c"], value: "" },
    { path: ["a"], value: [] },
  ];
  expect(await setConfigValues(text, changes)).toBe('c = ""\r\na = []');
});

describe("properties", () => {
  const name = fc.constantFrom("a", "b", "c", "d e", "gpt-5.2", "é", "__proto__", "toString", "");
  const scalar = fc.oneof(
    fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed()),
    fc.integer(),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => number !== 0 && !Number.isInteger(number)),
  );
  const value: fc.Arbitrary<ConfigValue> = fc.oneof(scalar, fc.array(fc.string({ unit: "grapheme", maxLength: 3 })));
  const change = fc.record({ path: fc.array(name, { minLength: 1, maxLength: 4 }), value });
  const LINES = [
    "# a comment",
    "",
    "[a]",
    "[a.b]",
    "[[c]]",
    "[c.d]",
    '["gpt-5.2"]',
    "a.b.c = 1 # c",
    "b = { a = 1, b.c = [ 'x' , 'y' ] }",
    "c = [\n  'x', # c\n  { a = 1 },\n]",
    '  d = """\n\\\n  x\n"""',
    "'d e' = 1979-05-27",
    'b = ""',
  ];
  const text = fc
    .tuple(fc.array(fc.constantFrom(...LINES), { maxLength: 8 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
    .map(([lines, eol, ends]) => lines.join("\n").replaceAll("\n", eol) + (ends ? eol : ""));

  const tableOf = async (toml: string): Promise<Table | undefined> => {
    const parsed = await parseToml(toml);
    return "table" in parsed ? parsed.table : undefined;
  };

  test("the result says what was asked for and nothing else, with every comment; or the change is refused", async () => {
    const done: string[] = [];
    await fc.assert(
      fc.asyncProperty(text, fc.array(change, { minLength: 1, maxLength: 3 }), async (toml, changes) => {
        const before = await tableOf(toml);
        fc.pre(before !== undefined);
        const edited = await setConfigValues(toml, changes).catch((error: unknown) => error as Error);
        const codeOf = (error: Error) => (error as Error & { code?: string }).code;
        if (edited instanceof Error) return codeOf(edited) === "CONFIG_UNWRITABLE";
        done.push(edited);
        expect(await tableOf(edited)).toEqual(assigned(before!, changes));
        // Each line is there still, in the same order, but for those that hold a changed value.
        const comments = (source: string) => source.split(/\r?\n/).filter((line) => line.startsWith("# a comment"));
        expect(comments(edited)).toEqual(comments(toml));
        // The last line break may have gone with a list, but no other kind came in.
        expect(edited).not.toMatch(toml.includes("\r\n") ? /(?<!\r)\n/ : /\r\n/);
        return true;
      }),
      { numRuns: cases(1500) },
    );
    expect(done.length).toBeGreaterThan(cases(1500) / 2);
  });

  function assigned(table: Table, changes: readonly ConfigChange[]): Table {
    const copy = copyValue(table) as Table;
    for (const { path, value } of changes) {
      let holder = copy;
      for (const part of path.slice(0, -1)) holder = (holder[part] ??= Object.create(null)) as Table;
      holder[path.at(-1) as string] = value;
    }
    return copy;
  }
});
