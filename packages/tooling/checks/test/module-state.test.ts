// State at module level is shared by all clients and survives a reload: one client's data in another's answer.
import { describe, expect, test } from "vitest";
import { moduleState } from "../src/checks/module-state.ts";
import { judge } from "./judge.ts";

const file = "packages/features/tool-a/src/a.ts";
const found = (text: string, where = file): string[] => judge(moduleState, { [where]: text });

const CHANGES = "is a module-level value that this file changes.";

type Case = [text: string, message: string];

const VARIABLES: Case[] = [
  ["let count = 0;", "count is a module-level let."],
  ["var count = 0;", "count is a module-level var."],
  ["export let count = 0;", "count is a module-level let."],
  ["let first, second = 1;", "first is a module-level let."],
  ["let { a, b: [c] } = make();", "a is a module-level let."],
  ["{ let hidden = 0; globalNothing(() => hidden++); }", "hidden is a module-level let."],
  ["if (true) { var count = 0; }", "count is a module-level var."],
  ["let sdk; export const load = async () => (sdk ??= await import('sdk'));", "sdk is a module-level let."],
  ["namespace A { export let n = 0; }", "n is a module-level let."],
];

const TABLES: Case[] = [
  ["const seen = new Set(); export const add = (x: string) => seen.add(x);", `seen ${CHANGES}`],
  ["const seen = new Set(['a']); export const add = (x: string) => seen.add(x);", `seen ${CHANGES}`],
  ["const byClient = new WeakMap(); export const f = (c) => byClient.set(c, 1);", `byClient ${CHANGES}`],
  [
    "const byClient = new WeakMap(); export const f = (c) => fill(byClient, c);",
    "byClient is a table at module level.",
  ],
  [
    "const counts = new Map(); export const create = () => ({ counts });",
    "counts is an empty collection at module level.",
  ],
  ["const counts = new Map(); counts.getOrInsert('a', 0);", `counts ${CHANGES}`],
  ["const counts = new Map(); Map.prototype.set.call(counts, 'a', 1);", `counts ${CHANGES}`],
  [
    "const all = { seen: new Map() }; export const create = () => all.seen;",
    "all is an empty collection at module level.",
  ],
  [
    "export const registry = new Map();",
    "registry is an empty collection at module level, exported for others to fill.",
  ],
  ["export const registry = {};", "registry is empty at module level, exported for others to fill."],
  ["export const rows = [];", "rows is empty at module level, exported for others to fill."],
  ["export const known = Object.create(null);", "known is empty at module level, exported for others to fill."],
  ["const rows: string[] = []; export { rows };", "rows is empty at module level, exported for others to fill."],
  ["export default new Map();", "The default export is an empty collection at module level, exported"],
  ["const bits = new Uint8Array(8); export const f = () => bits.fill(1);", `bits ${CHANGES}`],
  ["const bits = new Uint8Array(8);", "bits is an instance of Uint8Array at module level."],
  [
    "const shared = new SharedArrayBuffer(8); export const f = (at) => Atomics.add(shared, at, 1);",
    `shared ${CHANGES}`,
  ],
];

const CHANGED: Case[] = [
  ["const cache = {}; export const f = (k) => { cache[k] = 1; };", `cache ${CHANGES}`],
  ["const cache = {}; export const f = (k) => { delete cache[k]; };", `cache ${CHANGES}`],
  ["const cache = { a: { n: 0 } }; export const f = () => { cache.a.n++; };", `cache ${CHANGES}`],
  ["const cache = { n: 0 }; export const f = () => { (cache as any).n = 1; };", `cache ${CHANGES}`],
  ["const cache = { n: 0 }; export const f = () => { cache!['n'] ||= 1; };", `cache ${CHANGES}`],
  ["const cache = { n: 0 }; export const f = (x) => { [cache.n, cache['m']] = x; };", `cache ${CHANGES}`],
  ["const cache = { n: 0 }; export const f = (x) => { ({ a: cache.n, ...cache.n } = x); };", `cache ${CHANGES}`],
  ["const cache = { n: 0 }; export const f = (x) => { for (cache.n of x); };", `cache ${CHANGES}`],
  ["const rows: number[] = []; export function f() { rows.push(1); }", `rows ${CHANGES}`],
  ["const rows = [0]; export function f() { rows.length = 0; }", `rows ${CHANGES}`],
  ["const rows = [0]; export function f() { rows?.splice(0); }", `rows ${CHANGES}`],
  ["const known = {}; export const f = (x) => Object.assign(known, x);", `known ${CHANGES}`],
  ["const known = {}; export const f = (x) => Object.defineProperty(known, x, {});", `known ${CHANGES}`],
  ["const known = {}; export const f = (x) => Reflect.set(known, x, 1);", `known ${CHANGES}`],
  ["const known = {}; export const f = (x) => Object.setPrototypeOf(known, x);", `known ${CHANGES}`],
  ["const state = Object.freeze({ n: new Map() }); export const f = () => state.n.set(1, 1);", `state ${CHANGES}`],
  [
    "const state = Object.freeze({ list: [] as string[] }); export const f = () => state.list.push('');",
    `state ${CHANGES}`,
  ],
  ["const counter = { n: 0, next() { return this.n++; } };", "An object at module level changes itself."],
  [
    "const counter = { n: 0, next: function () { return () => (this.n += 1); } };",
    "An object at module level changes itself.",
  ],
  ["const counter = { n: 0, get next() { return this.n++; } };", "An object at module level changes itself."],
  ["export default { n: 0, next() { this.n += 1; } };", "An object at module level changes itself."],
];

/** By another name than the one that it has at module level. */
const ALIASES: Case[] = [
  [
    "const state = { n: new Map([[1, 1]]) }; export const f = () => { const { n } = state; n.set(1, 2); };",
    `state ${CHANGES}`,
  ],
  ["const { n } = Object.freeze({ n: new Set([1]) }); export const f = () => n.add(2);", `n ${CHANGES}`],
  ["const T = new Map([['a', { n: 0 }]]); export const f = () => { T.get('a')!.n++; };", `T ${CHANGES}`],
  [
    "const T = new Map([['a', { n: 0 }]]); export const f = (k) => { const row = T.get(k); row.n = 1; };",
    `T ${CHANGES}`,
  ],
  ["const ROWS = [{ n: 0 }]; export const f = () => { for (const row of ROWS) row.n += 1; };", `ROWS ${CHANGES}`],
  ["const ROWS = [{ n: 0 }]; export const f = () => { ROWS.forEach((row) => { row.n += 1; }); };", `ROWS ${CHANGES}`],
  [
    "const ROWS = [[0]]; export const f = (mine) => { const list = mine ?? ROWS[0]; list.push(1); };",
    `ROWS ${CHANGES}`,
  ],
  ["const seen = new Set(); function g(seen) {} export function f(x) { seen.add(x); g(x); }", `seen ${CHANGES}`],
];

const FUNCTIONS: Case[] = [
  ["export function f() { f.calls = (f.calls ?? 0) + 1; }", `f ${CHANGES}`],
  ["export const f = () => { f.cache.set(1, 1); };", `f ${CHANGES}`],
  ["const f = Object.assign(() => f.n++, { n: 0 });", `f ${CHANGES}`],
  ["export class A { static seen; } export const f = () => { A.seen.add(1); };", `A ${CHANGES}`],
  ["export class A {} export const f = () => { A.prototype.run = () => 1; };", `A ${CHANGES}`],
  ["function load() {} export function f() { load = () => 1; }", "load is a function that this file replaces."],
];

const PROCESS: Case[] = [
  ["export const f = () => { globalThis.cache = new Map(); };", "globalThis is global, and this file changes it."],
  ["export const f = () => { (globalThis as any).cache ??= new Map(); };", "globalThis is global"],
  ["export const f = () => { globalThis[Symbol.for('svc.cache')] = 1; };", "globalThis is global"],
  ["export const f = () => { process.env.TOKEN = 'x'; };", "process is global, and this file changes it."],
  ["export const f = () => { delete process.env['TOKEN']; };", "process is global"],
  [
    "import process from 'node:process'; export const f = () => { process.env.TOKEN = ''; };",
    "process is of another module",
  ],
  ["import { env } from 'node:process'; export const f = () => { env.TOKEN = ''; };", "env is of another module"],
  ["export const f = () => Object.assign(process.env, { A: '1' });", "process is global"],
  ["export const f = () => { Array.prototype.last = () => 1; };", "Array is global"],
  ["export const f = () => { Error.stackTraceLimit = 0; };", "Error is global"],
  ["export const f = () => { Math.random = () => 4; };", "Math is global"],
  ["export const f = () => { counter = 1; };", "counter is global"],
  ["export const f = () => { const g = globalThis; g.cache = 1; };", "globalThis is global"],
];

describe.each([
  ["a variable", VARIABLES],
  ["a table", TABLES],
  ["a value that is changed", CHANGED],
  ["a value that is changed by another name", ALIASES],
  ["a function or a class that is changed", FUNCTIONS],
  ["what the whole process has", PROCESS],
])("%s", (_, cases) => {
  test.each(cases)("%s", (text, message) => {
    expect(found(text)[0]).toContain(`${file}:1 ${message}`);
  });
});

describe("what is no state", () => {
  test.each([
    "const NAMES = new Set(['a']); export const has = (x: string) => NAMES.has(x);",
    "export const LIMITS = { perMinute: 5, names: ['a'] };",
    "export const NONE: ReadonlyMap<string, number> = new Map();",
    "export const NONE: readonly string[] = []; const EMPTY = {};",
    "export const NONE = Object.freeze({});",
    "export const create = () => { const seen = new Map(); let n = 0; return { add: (x) => { seen.set(x, n++); } }; };",
    "const rows = [1]; export const f = (rows: number[]) => rows.push(1);",
    "const rows = [1]; export const f = () => { const rows = []; rows.push(1); };",
    "const rows = [1]; export const f = () => { const copy = [...rows]; copy.push(1); return rows.slice().sort(); };",
    "const rows = [1]; export const f = () => rows.toSorted();",
    "const rows = [1]; try { f(); } catch (rows) { rows.code = 1; }",
    "export class A { static readonly max = 1; #n = 0; next() { return this.#n++; } }",
    "export class A { static readonly NAMES = new Set(['a']); static { setUp(); } }",
    "export const make = () => ({ n: 0, next() { this.n += 1; } });",
    "const by = (f) => (a, b) => f(a) - f(b); const byName = by((x) => x.name);",
    "const table = (() => { const all = []; for (const x of ['a']) all.push(x); return all; })();",
    "const table = build(); function build() { const all = []; ['a'].forEach((x) => all.push(x)); return all; }",
    "class Point { readonly x; constructor(x) { this.x = x; } moved() { return new Point(1); } } const ORIGIN = new Point(0);",
    "class Refusal extends Error {} const REFUSED = new Refusal(); const OTHER = new TypeError('x');",
    "const WORD = /a/; export const f = (x) => WORD.test(x);",
    "const WORD = /a/g; export const f = (x) => x.replace(WORD, '') + x.match(WORD) + [...x.matchAll(WORD)];",
    "export const f = (x) => { const word = /a/g; return word.test(x); };",
    "import * as v from 'valibot'; export const schema = v.strictObject({ names: v.optional(v.array(v.string()), []) });",
    "export const f = (element) => { element.title = 'x'; element.list.push(1); };",
    "export const f = () => { const headers = new Headers(); headers.set('a', 'b'); headers.append('a', 'c'); };",
    "const storage = new AsyncLocalStorage(); const DECODER = new TextDecoder();",
    "declare let global: number; declare module 'x' { let n: number; }",
  ])("%s", (text) => {
    expect(found(text)).toEqual([]);
  });

  test("what the core knows about an object for as long as it lives, unless it hands the table out", () => {
    const core = "packages/core/gateway/src/peer.ts";
    const text = "const peers = new WeakMap(); export const keep = (socket) => peers.set(socket, 1);";
    expect(found(text, core)).toEqual([]);
    expect(found(`export ${text}`, core)).toHaveLength(1);
  });

  test("a test's own", () => {
    expect(found("let count = 0;", "packages/features/tool-a/src/a.test.ts")).toEqual([]);
    expect(found("let count = 0;", "packages/features/tool-a/test/a.ts")).toEqual([]);
  });
});

test("each thing is told once, where it is made", () => {
  const text = "const a = 1;\nconst seen = new Map();\nexport const f = () => { seen.set(1, 1); seen.clear(); };\n";
  expect(found(text)).toEqual([`${file}:2 seen ${CHANGES}`]);
});

test("an exception is for its file and its name alone", () => {
  const text = "export const f = () => { process.exitCode = 1; };";
  expect(found(text, "apps/svc/src/main.ts")).toEqual([]);
  expect(found(text, "apps/svc/src/other.ts")).toHaveLength(1);
  expect(found("globalThis.a = 1;", "apps/svc/src/main.ts")).toHaveLength(1);
});
