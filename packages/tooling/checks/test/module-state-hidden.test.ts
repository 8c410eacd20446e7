// State that nobody sees at module level: behind a function that remembers, in a class, in a regular expression, in another file.
import { describe, expect, test } from "vitest";
import { moduleState } from "../src/checks/module-state.ts";
import { judge } from "./judge.ts";

const file = "packages/features/tool-a/src/a.ts";
const other = "packages/features/tool-a/src/b.ts";
const found = (text: string): string[] => judge(moduleState, { [file]: text });
const together = (first: string, second: string): string[] => judge(moduleState, { [file]: first, [other]: second });

const STATIC = "A static field that can change is module-level state.";
const KEEPS = "is made by a function that keeps changing state.";
const REMEMBERS = "is a regular expression that remembers where it stopped.";
const CHANGES = "is a module-level value that this file changes.";

type Case = [text: string, message: string];

const CLOSURES: Case[] = [
  ["const next = (() => { let n = 0; return () => n++; })();", `next ${KEEPS}`],
  ["const next = (function () { const seen = new Set(); return (x) => seen.add(x); })();", `next ${KEEPS}`],
  ["export const api = (() => { const cache = {}; return { put(k) { cache[k] = 1; } }; })();", `api ${KEEPS}`],
  ["const counter = () => { let n = 0; return () => n++; }; const next = counter();", `next ${KEEPS}`],
  ["function counter(n = 0) { return () => n++; } export const next = counter(5);", `next ${KEEPS}`],
  [
    "function inner() { let n = 0; return () => n++; } const outer = () => inner(); const next = outer();",
    `next ${KEEPS}`,
  ],
  ["function* ids() { let n = 0; while (true) yield n++; } const next = ids();", `next ${KEEPS}`],
  ["const make = () => ({ n: 0, next() { this.n += 1; } }); export const one = make();", `one ${KEEPS}`],
  [
    "class Counter { #n = 0; next() { return this.#n++; } } const one = new Counter();",
    "one is an instance of Counter at module level.",
  ],
  [
    "class Counter { #n = 0; next() { return this.#n++; } } const all = { a: [new Counter()] };",
    "all is an instance of Counter",
  ],
  [
    "class Seen { readonly #all = new Set(); add(x) { this.#all.add(x); } } const seen = new Seen();",
    "seen is an instance of Seen",
  ],
  [
    "const make = () => new Counter(); class Counter { n = 0; next() { this.n++; } } const one = make();",
    `one ${KEEPS}`,
  ],
  ["import { once } from 'lib'; const load = once(() => 1);", "load is made by once(), which remembers."],
  ["import lib from 'lib'; const load = lib.memoize(() => 1);", "load is made by memoize(), which remembers."],
  ["const { promise, resolve } = Promise.withResolvers();", "A name is made by withResolvers(), which remembers."],
  ["import { Client } from 'lib'; const client = new Client();", "client is an instance of Client at module level."],
  ["const stop = new AbortController();", "stop is an instance of AbortController at module level."],
  ["const started = new Date();", "started is an instance of Date at module level."],
  ['const shared = new SharedHandle("x", 1);', "shared is a SharedHandle made at module level."],
];

const STATICS: Case[] = [
  ["export class A { static last = 0; }", STATIC],
  ["export class A { static #seen = []; }", STATIC],
  ["export class A { static readonly seen = new Map(); }", STATIC],
  ["export class A { static readonly rows = []; }", STATIC],
  ["export class A { static readonly known = {}; }", STATIC],
  ["export class A { static readonly next = (() => { let n = 0; return () => n++; })(); }", STATIC],
  ["export class A { static readonly started = new Date(); }", STATIC],
  ["export class A { static readonly words = /a/g; }", STATIC],
  ["export class A { static accessor last = 0; }", STATIC],
  ["export const A = class { static last = 0; };", STATIC],
  [
    "export class A { static declare n; static next() { return this.n++; } }",
    "An object at module level changes itself.",
  ],
];

const REGEXES: Case[] = [
  ["const WORD = /a/g; export const f = (x) => WORD.test(x);", `WORD ${REMEMBERS}`],
  ["const WORD = /a/gu; export const f = (x) => WORD.exec(x);", `WORD ${REMEMBERS}`],
  ["const WORD = /a/y; export const f = (x) => x.match(WORD);", `WORD ${REMEMBERS}`],
  ["const WORD = /a/g; export const f = (x) => { WORD.lastIndex = 0; };", `WORD ${CHANGES}`],
  ["const WORD = /a/g; export const f = (x) => has(x, WORD);", `WORD ${REMEMBERS}`],
  ["export const WORD = /a/g;", `WORD ${REMEMBERS}`],
  ["const WORDS = [/a/g]; export const f = (x) => WORDS.some((word) => word.test(x));", `WORDS ${REMEMBERS}`],
  ["const WORD = new RegExp('a', 'g'); export const f = (x) => WORD.test(x);", `WORD ${REMEMBERS}`],
  ["const WORD = new RegExp('a', flags()); export const f = (x) => WORD.test(x);", `WORD ${REMEMBERS}`],
];

describe.each([
  ["what a function keeps", CLOSURES],
  ["what a class has", STATICS],
  ["a regular expression that goes on", REGEXES],
])("%s", (_, cases) => {
  test.each(cases)("%s", (text, message) => {
    expect(found(text)[0]).toContain(`${file}:1 ${message}`);
  });
});

describe("what one file has and another changes", () => {
  test.each([
    [
      "export const settings = { a: 1 };",
      "import { settings } from './a.ts'; export const f = () => { settings.a = 2; };",
      "settings",
    ],
    [
      "export const NAMES = new Set(['a']);",
      "import { NAMES as known } from './a.ts'; export const f = () => known.add('b');",
      "known",
    ],
    ["export const rows = [1];", "import * as a from './a.ts'; export const f = () => a.rows.push(2);", "a"],
    [
      "export default { a: 1 };",
      "import settings from './a.ts'; export const f = () => { delete settings.a; };",
      "settings",
    ],
    [
      "export const s = { a: 1 };",
      "export const f = async () => { const m = await import('./a.ts'); m.s.a = 2; };",
      "import()",
    ],
    [
      "export { settings } from 'lib';",
      "import { settings } from './a.ts'; export const f = () => { settings.a = 2; };",
      "settings",
    ],
  ])("%s %s", (first, second, name) => {
    expect(together(first, second)).toEqual([`${other}:1 ${name} is of another module, and this file changes it.`]);
  });

  test.each([
    [
      "export const counter = () => { let n = 0; return () => n++; };",
      "import { counter } from './a.ts'; const next = counter();",
    ],
    [
      "export default function () { let n = 0; return () => n++; }",
      "import counter from './a.ts'; const next = counter();",
    ],
    [
      "const c = () => { let n = 0; return () => n++; }; export { c as counter };",
      "import { counter } from './a.ts'; const next = counter();",
    ],
  ])("a function of another file that keeps what it changes: %s", (first, second) => {
    expect(together(first, second)).toEqual([`${other}:1 next ${KEEPS}`]);
  });

  test("by way of a file that exports all of another, and of a package of the core", () => {
    const files = {
      "packages/core/kit/src/index.ts": 'export * from "./counter.ts";',
      "packages/core/kit/src/counter.ts": "export function counter() { let n = 0; return () => n++; }",
      [file]: 'import { counter } from "@svc/kit"; const next = counter();',
    };
    expect(judge(moduleState, files)).toEqual([`${file}:1 next ${KEEPS}`]);
  });
});
