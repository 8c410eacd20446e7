// Random edits of random valid files, made of the schema: a byte that no edit is about and that is gone afterwards, a file that no
// longer loads, or a refusal without a line is the bug here.
import { isDeepStrictEqual } from "node:util";
import { cases } from "@svc/cases";
import { SvcError } from "@svc/contract";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConfigEdit, ConfigError, type ConfigValue, applyConfigEdits, loadConfig } from "../src/index.ts";
import { copyValue, emptyTable, isTable, type Path, type Table, valueAt } from "../src/table.ts";
import { parseToml, tomlKey, tomlValue } from "../src/toml.ts";
import { ConfigEditor, formSchema } from "../src/settings/index.ts";
import { CATALOGUE, FEATURES, makeFixture } from "./config-fixtures.ts";

interface Field {
  readonly name: string;
  readonly type: string;
  readonly secret?: boolean;
  readonly required: boolean;
  readonly min?: number;
  readonly choices?: readonly ConfigValue[];
  readonly fields?: readonly Field[];
  readonly item?: Field;
}
interface SectionForm {
  readonly path: readonly string[];
  readonly fields: readonly Field[];
  readonly item?: Field;
}

const SECTIONS = formSchema(FEATURES, CATALOGUE) as unknown as readonly SectionForm[];
const TEXTS = [
  "plain",
  'with "quotes" and \\',
  "# no comment",
  "ünïcode ☃",
  "two\nlines",
  "<script>",
  "https://a.test/x",
];

/** Of the field's type; not each is valid: what is refused must be refused with a line. */
function valueOf({ type, min, choices = [], fields = [], item }: Field): fc.Arbitrary<ConfigValue> {
  switch (type) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.constantFrom(min ?? 1, (min ?? 0) + 1, (min ?? 0) + 7);
    case "number":
      return fc.constantFrom(min ?? 0, 0.25, 1);
    case "choice":
      return choices.length === 0 ? fc.constant("x") : fc.constantFrom(...choices);
    case "list":
      return item ? fc.array(valueOf(item), { maxLength: 3 }) : fc.constant([]);
    case "object":
      return tableOf(fields);
    case "record":
      return item ? fc.dictionary(NAME, valueOf(item), { maxKeys: 2 }) : fc.constant({});
    default:
      return fc.constantFrom(...TEXTS);
  }
}

const NAME = fc.constantFrom("helper", "second-one", "with space", 'a"quote', "ünï");

const tableOf = (fields: readonly Field[]): fc.Arbitrary<ConfigValue> =>
  fc
    .record(Object.fromEntries(fields.map((field) => [field.name, valueOf(field)])), {
      requiredKeys: fields.filter(({ required }) => required).map(({ name }) => name),
    })
    .map((table) => Object.fromEntries(Object.entries(table).slice(0, 4)) as ConfigValue);

/** Each key of the schema, with the names of what can be several. */
function fieldsBelow(path: Path, fields: readonly Field[], depth = 0): { path: Path; field: Field }[] {
  return fields.flatMap((field) => {
    const own = [...path, field.name];
    const inner: Field[] = field.type === "object" ? [...(field.fields ?? [])] : [];
    const named = field.type === "record" && field.item ? [{ path: [...own, "helper"], field: field.item }] : [];
    const items =
      field.type === "list" && field.item?.fields
        ? [0, 1].flatMap((index) => [
            { path: [...own, index], field: field.item! },
            ...fieldsBelow([...own, index], field.item!.fields!, depth + 1),
          ])
        : [];
    return [{ path: own, field }, ...named, ...items, ...(depth > 3 ? [] : fieldsBelow(own, inner, depth + 1))];
  });
}

const KEYS = SECTIONS.flatMap(({ path, fields, item }) => [
  ...fieldsBelow(path, fields),
  ...(item?.fields ? fieldsBelow([...path, "helper"], item.fields) : []),
]);

/** Values that load when they stand alone: files are made of these. */
const valid: { path: readonly string[]; value: ConfigValue; isSecret: boolean }[] = [];
const fixture = makeFixture();
const options = { home: fixture.home, env: {}, features: FEATURES, catalogue: CATALOGUE };
const loads = (text: string) =>
  loadConfig({ ...options, text }).then(
    () => true,
    () => false,
  );

beforeAll(async () => {
  for (const { path, field } of KEYS) {
    if (path.some((name) => typeof name === "number")) continue;
    for (const value of fc.sample(valueOf(field), { numRuns: 4, seed: 1 })) {
      const text = `${tomlKey(path as string[])} = ${inline(value)}\n`;
      if (await loads(text)) valid.push({ path: path as string[], value, isSecret: field.secret === true });
    }
  }
  valid.push(...BOARDS);
});
afterAll(() => fixture.remove());

const BOARDS = [
  { path: ["shapes", "boards"], value: [{ board: "x" }, { board: "y", baud: 1200 }], isSecret: false },
  { path: ["security", "policy", "always"], value: [{ agent: "default", tool: "shell" }], isSecret: false },
] as const;

const inline = (value: ConfigValue): string => tomlValue(value).replaceAll(/\n\s*/g, " ");

/** A piece of the file, and what it is about; of a remark, the table in which it stands. */
interface Chunk {
  readonly text: string;
  readonly about: Path;
  readonly kind: "key" | "remark" | "trailing" | "header";
}

const SHAPES = ["header", "dotted", "inline"] as const;

interface Choices {
  readonly picks: readonly number[];
  readonly shapes: readonly (typeof SHAPES)[number][];
  readonly remarks: readonly boolean[];
  readonly isCrlf: boolean;
  readonly isOpenEnded: boolean;
}

/** The file, table by table, each as it was chosen to be written. */
function chunksOf({ picks, shapes, remarks, isCrlf, isOpenEnded }: Choices): Chunk[] {
  const eol = isCrlf ? "\r\n" : "\n";
  const tables = new Map<string, { path: string[]; keys: Map<string, ConfigValue> }>();
  const picked = [
    ...new Map(picks.map((pick) => valid[pick % valid.length]!).map((one) => [one.path.join("\0"), one])).values(),
  ];
  for (const { path, value } of picked) {
    if (picked.some((other) => other.path.length < path.length && other.path.every((name, at) => name === path[at])))
      continue;
    const holder = path.slice(0, -1);
    const table = tables.get(holder.join("\0")) ?? { path: [...holder], keys: new Map() };
    table.keys.set(path.at(-1)!, value);
    tables.set(holder.join("\0"), table);
  }
  let count = 0;
  const remark = (about: Path): Chunk[] =>
    remarks[count % Math.max(1, remarks.length)] === true
      ? [{ kind: "remark", about, text: `# r${(count += 1)} keep = "me"${eol}` }]
      : ((count += 1), []);
  const trailing = (about: Path): Chunk => ({ kind: "trailing", about, text: ` # t${(count += 1)}` });
  const line = (about: Path, text: string): Chunk[] => [
    { kind: "key", about, text },
    trailing(about),
    { kind: "key", about, text: eol },
  ];
  const top: Chunk[] = [];
  const below: Chunk[] = [];
  for (const [index, { path, keys }] of [...tables.values()].entries()) {
    const isNested = [...tables.values()].some(
      (other) =>
        other.path !== path && path.length !== other.path.length && path.every((name, at) => name === other.path[at]),
    );
    const isInside = [...tables.values()].some(
      (other) =>
        other.path !== path && other.path.length < path.length && other.path.every((name, at) => name === path[at]),
    );
    const shape = isNested || isInside ? "header" : (shapes[index % shapes.length] ?? "header");
    if (shape === "inline") {
      const pairs = [...keys].map(([name, value]) => `${tomlKey([name])} = ${inline(value)}`).join(", ");
      top.push(...remark([]), ...line(path, `${tomlKey(path)} = { ${pairs} }`));
    } else if (shape === "dotted") {
      for (const [name, value] of keys) {
        top.push(...remark([]), ...line([...path, name], `${tomlKey([...path, name])} = ${inline(value)}`));
      }
    } else {
      below.push(...remark([]), { kind: "header", about: path, text: `[${tomlKey(path)}]${eol}` });
      for (const [name, value] of keys) {
        const own = [...path, name];
        if (Array.isArray(value) && value.some((item) => typeof item === "object")) continue;
        below.push(...remark(path), ...line(own, `${tomlKey([name])} = ${inline(value)}`));
      }
      for (const [name, value] of keys) {
        if (!Array.isArray(value) || !value.some((item) => typeof item === "object")) continue;
        for (const [at, item] of value.entries()) {
          const own = [...path, name, at];
          below.push({ kind: "header", about: own, text: `[[${tomlKey([...path, name])}]]${eol}` });
          for (const [key, inner] of Object.entries(item as Record<string, ConfigValue>)) {
            below.push(...line([...own, key], `${tomlKey([key])} = ${inline(inner)}`));
          }
        }
      }
    }
  }
  const all = [...top, ...below];
  if (isOpenEnded && all.at(-1)?.text === eol) all.pop();
  return all;
}

const isBelow = (path: Path, base: Path): boolean =>
  path.length >= base.length && base.every((name, at) => String(name) === String(path[at]));

/** Whether an edit may change the piece. */
function mayChange({ kind, about }: Chunk, edits: readonly ConfigEdit[]): boolean {
  return edits.some((edit) => {
    const { path } = edit;
    const list = path.findIndex((name) => typeof name === "number");
    // Indexes move: of a list of tables that edits are about, all of it is.
    const scope = list === -1 ? path : path.slice(0, list);
    if (kind === "key") return isBelow(about, scope) || isBelow(scope, about);
    if (kind === "header") return isBelow(about, scope) || ("remove" in edit && isBelow(scope, about));
    if (kind === "trailing")
      return "remove" in edit || list !== -1
        ? isBelow(about, scope) || isBelow(scope, about)
        : isBelow(about, path) && about.length > path.length;
    return isBelow(about, scope) && about.length > 0;
  });
}

/** The same edits on plain data. Undefined: they can't be made. */
function edited(table: Table, edits: readonly ConfigEdit[]): Table | undefined {
  const root = copyValue(table) as Table;
  for (const edit of edits) {
    const holderPath = edit.path.slice(0, -1);
    const name = edit.path.at(-1)!;
    let holder: unknown = root;
    for (const [depth, part] of holderPath.entries()) {
      const next = valueAt(root, holderPath.slice(0, depth + 1));
      if (next === undefined) {
        if ("remove" in edit) break;
        (holder as Table)[part] = typeof edit.path[depth + 1] === "number" ? [] : emptyTable();
      }
      holder = valueAt(root, holderPath.slice(0, depth + 1));
    }
    if (valueAt(root, holderPath) === undefined && holderPath.length > 0) continue;
    if ("remove" in edit) {
      if (Array.isArray(holder)) holder.splice(name as number, 1);
      else if (isTable(holder)) delete holder[name];
    } else if (isTable(holder) || Array.isArray(holder)) (holder as Table)[name] = copyValue(edit.value);
    else return undefined;
  }
  return withoutEmpty(root) as Table;
}

/** An empty table says the same as none. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isTable(value)) return value;
  const table = emptyTable();
  for (const [name, inner] of Object.entries(value)) {
    const kept = withoutEmpty(inner);
    const isNothing = (isTable(kept) || Array.isArray(kept)) && Object.keys(kept).length === 0;
    if (!isNothing) table[name] = kept;
  }
  return table;
}

/** Reasons of a refusal that tell no line although they could. Throws what is no refusal. */
function withoutLine(tried: unknown, edits: readonly ConfigEdit[], table: Table): string[] {
  if (!(tried instanceof Error)) return [];
  if (tried instanceof ConfigError) {
    return tried.problems.filter(({ line }) => line === undefined).map(({ key, message }) => `${key}: ${message}`);
  }
  if (!(tried instanceof SvcError)) throw tried;
  // What the file has nothing of, it has no line of.
  const isThere = edits.every((edit) => Object.hasOwn(table, String(edit.path[0])) && !("remove" in edit));
  return isThere && tried.code !== "BAD_REQUEST" && !/line \d/.test(tried.message) ? [tried.message] : [];
}

const EDIT: fc.Arbitrary<ConfigEdit> = fc
  .constantFrom(...KEYS)
  .chain(({ path, field }) =>
    fc.oneof(
      { weight: 3, arbitrary: valueOf(field).map((value) => ({ path, value }) as ConfigEdit) },
      { weight: 1, arbitrary: fc.constant({ path, remove: true } as ConfigEdit) },
      { weight: 1, arbitrary: fc.constantFrom("text", -1, true).map((value) => ({ path, value }) as ConfigEdit) },
    ),
  );

const CHOICES: fc.Arbitrary<Choices> = fc.record({
  picks: fc.array(fc.nat(), { minLength: 1, maxLength: 10 }),
  shapes: fc.array(fc.constantFrom(...SHAPES), { minLength: 1, maxLength: 5 }),
  remarks: fc.array(fc.boolean(), { maxLength: 5 }),
  isCrlf: fc.boolean(),
  isOpenEnded: fc.boolean(),
});

/** Edits in all, in lots of `MOST`. */
const EDITS = 10_000;
const MOST = 6;

test(
  "comments, order and unrelated bytes stay; the result loads or is refused with a line",
  { timeout: 600_000 },
  async () => {
    const editor = new ConfigEditor({ ...options, now: () => 0 });
    let made = 0;
    let loaded = 0;
    let files = 0;
    await fc.assert(
      fc.asyncProperty(
        CHOICES,
        fc.array(EDIT, { minLength: 1, maxLength: MOST }),
        fc.nat(),
        fc.nat(MOST),
        async (choices, random, pick, near) => {
          const chunks = chunksOf(choices);
          const before = chunks.map(({ text }) => text).join("");
          const parsed = await parseToml(before);
          fc.pre("table" in parsed && (await loads(before)));
          files += 1;
          // Some are about what is there: chance alone would meet it seldom.
          const keys = chunks.filter(({ kind }) => kind === "key");
          const own = KEYS.filter(({ path }) => keys.some(({ about }) => String(about) === String(path)));
          const edits = random.map((edit, index) => {
            const there = own[(pick + index) % Math.max(1, own.length)];
            if (index >= near || there === undefined) return edit;
            if ("remove" in edit) return { path: there.path, remove: true } as ConfigEdit;
            return { path: there.path, value: fc.sample(valueOf(there.field), { numRuns: 1, seed: pick + index })[0]! };
          });
          made += edits.length;
          fixture.write(before);
          const after = await applyConfigEdits(before, edits).catch(() => undefined);
          const tried = await editor.tried({ edits }).catch((error: unknown) => error as Error);
          expect(withoutLine(tried, edits, parsed.table)).toEqual([]);
          if (typeof after !== "string") return;
          if (!(tried instanceof Error)) loaded += 1;
          let rest = after;
          let place = 0;
          for (const chunk of chunks) {
            if (mayChange(chunk, edits)) continue;
            const at = rest.indexOf(chunk.text, place);
            expect(at, `${JSON.stringify(chunk.text)} of\n${before}\n${JSON.stringify(edits)}\n${after}`).not.toBe(-1);
            rest = rest.slice(0, at) + rest.slice(at + chunk.text.length);
            place = at;
          }
          // What is left is what the edits wrote, and what they were about.
          const changed = chunks
            .filter((chunk) => mayChange(chunk, edits))
            .reduce((sum, { text }) => sum + text.length, 0);
          const written = edits.reduce(
            (sum, edit) => sum + 4 * JSON.stringify(edit).length + edit.path.join(".").length,
            0,
          );
          expect(rest.length).toBeLessThanOrEqual(changed + written + 8 * edits.length);
          const said = await parseToml(after);
          const expected = edited(parsed.table, edits);
          const isSame =
            expected === undefined || ("table" in said && isDeepStrictEqual(withoutEmpty(said.table), expected));
          expect(isSame, `${before}\n${JSON.stringify(edits)}\n${after}`).toBe(true);
        },
      ),
      { numRuns: cases((EDITS * 3) / 10) },
    );
    expect(loaded).toBeGreaterThan(files / 4);
    expect(made).toBeGreaterThan(files * 2);
  },
);
