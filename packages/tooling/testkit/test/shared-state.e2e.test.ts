// What two constructions share where no program can look: a private field, a variable that a function closes over. A process of
// its own has real modules, so that what belongs to one is told apart from what two instances were handed.
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failures } from "../src/check.ts";
import { featureChecks } from "../src/conformance/feature-conformance.ts";
import { constructGuarded } from "../src/io-guard/construct-guarded.ts";
import { temporaryHome, type TemporaryHome } from "../src/temporary-home.ts";
import { writePackage, type PackageText } from "./feature-package.ts";

let home: TemporaryHome;
let folders = 0;
beforeAll(() => {
  home = temporaryHome();
});
afterAll(() => home.remove());

const rootOf = (text: Partial<PackageText>): string => {
  folders += 1;
  return writePackage(`${home.path}/${folders}`, { id: "fake-feature", ...text });
};
const constructed = (text: Partial<PackageText>) =>
  constructGuarded({ entry: pathToFileURL(`${rootOf(text)}/src/index.ts`).href, config: undefined });

const SHARED: [what: string, text: Partial<PackageText>, path: RegExp][] = [
  [
    "a Map in a private field",
    {
      imports: "const kept = new Map(); class Sender { #kept = kept; async send() { return this.#kept; } }",
      create: "return { channel: new Sender() };",
    },
    /\.channel\.#kept$/,
  ],
  [
    "a Map that a function closes over",
    {
      imports: "const kept = new Map(); const sender = (mine) => async () => mine.get(1);",
      create: "return { channel: { send: sender(kept) } };",
    },
    /\.channel\.send\.mine$/,
  ],
  [
    "an instance of a class, behind a function in a list in a closure",
    {
      imports: "class Pool { free = []; } const pool = new Pool(); const sender = (all) => async () => all[0]();",
      create: "return { channel: { send: sender([() => pool, ((own) => () => own)(pool)]) } };",
    },
    /\.send\.all\.1\.own$/,
  ],
  [
    "a list that a bound method is bound to",
    {
      imports: "class Rows { all = []; async add() { this.all.push(1); } } const rows = new Rows();",
      create: "return { channel: { send: rows.add.bind(rows) } };",
    },
    /\.send\.\[\[BoundThis\]\]$/,
  ],
  [
    "an argument that a function is bound to",
    {
      imports: "const kept = new Set();",
      create: "return { channel: { send: (async (own) => own.size).bind(null, kept) } };",
    },
    /\.\[\[BoundArgs\]\]/,
  ],
  [
    "a Map behind a proxy",
    { imports: "const kept = new Proxy(new Map(), {});", create: "return { observer: { record() {}, kept } };" },
    /\.observer\.kept/,
  ],
  [
    "a client that the definition made once",
    {
      entry: "",
      imports: "const once = (() => { let made; return () => (made ??= { open: new Set() }); })();",
      create: "const client = once(); return { shutdown: async () => client.open.clear() };",
    },
    /\.shutdown\.client/,
  ],
];

describe("two constructions share", () => {
  test.each(SHARED)("%s", async (_, text, path) => {
    expect((await constructed(text)).shared).toMatch(path);
  });
});

describe("what is no sharing", () => {
  test.each([
    "const own = new Map(); return { channel: { send: async () => own.get(1) } };",
    "class Own { #seen = new Set(); async send() { return this.#seen; } } return { channel: new Own() };",
    "const { config, log, clock } = context; return { shutdown: async () => log.info(String([config, clock.now()])) };",
    'const seen = context.shared("seen", new Map()); return { shutdown: async () => { await seen.write(() => new Map()); } };',
    'const of = context.perClient("n", () => 0); return { shutdown: async () => { of.of("a"); } };',
    "return { channel: { send: async () => NAMES.has(LIMITS.name) } };",
    "const names = NAMES_FROZEN; return { channel: { send: async () => names[0] } };",
    "const limits = LIMITS; return { channel: { send: async () => limits.name } };",
  ])("%s", async (create) => {
    const imports =
      'const NAMES = new Set(["a"]); const NAMES_FROZEN = Object.freeze(["a"]); const LIMITS = { name: "a" };';
    expect(await constructed({ imports, create })).toEqual({ violations: [] });
  });
});

test("the suite fails such a feature", async () => {
  const root = rootOf({ imports: SHARED[0]![1].imports!, create: SHARED[0]![1].create! });
  const { default: definition } = (await import(`${root}/src/index.ts`)) as { default: never };
  const broken = await failures(featureChecks(definition, { root }));
  const rule = "nor out of sight, in private fields and in what functions close over";
  expect(broken.filter(({ name }) => name === rule)).toMatchObject([
    { error: { message: "both hold the same changeable object at .channel.#kept" } },
  ]);
});
