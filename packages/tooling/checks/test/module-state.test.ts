// State at module level is shared by all clients and survives a reload: one client's data in another's answer.
import { describe, expect, test } from "vitest";
import { moduleState } from "../src/checks/module-state.ts";
import { judge } from "./judge.ts";

const file = "packages/features/tool-a/src/a.ts";
const found = (text: string, where = file): string[] => judge(moduleState, { [where]: text });

describe("state that fails", () => {
  test.each([
    ["let count = 0;", "count is a module-level let."],
    ["var count = 0;", "count is a module-level var."],
    ["export let count = 0;", "count is a module-level let."],
    ["const seen = new Set(); export const add = (x: string) => seen.add(x);", "seen"],
    ["const cache = {}; export const f = (k) => { cache[k] = 1; };", "cache"],
    ["const cache = {}; export const f = (k) => { delete cache[k]; };", "cache"],
    ["const cache = { a: { n: 0 } }; export const f = () => { cache.a.n++; };", "cache"],
    ["const rows: number[] = []; export function f() { rows.push(1); }", "rows"],
    ["const known = {}; export const f = (x) => Object.assign(known, x);", "known"],
    ["const byClient = new WeakMap(); export const f = (c) => byClient.set(c, 1);", "byClient"],
    [
      "export const registry = new Map();",
      "registry is an empty collection at module level, exported for others to fill.",
    ],
    ['const shared = new SharedHandle("x", 1);', "shared is a SharedHandle made at module level."],
    ["export class A { static last = 0; }", "A static field that can change is module-level state."],
    ["export class A { static #seen = []; }", "A static field that can change is module-level state."],
    ["export class A { static readonly seen = new Map(); }", "A static field that can change is module-level state."],
  ])("%s", (text, message) => {
    expect(found(text)).toHaveLength(1);
    expect(found(text)[0]).toContain(`${file}:1 ${message}`);
  });
});

describe("what is no state", () => {
  test.each([
    "const NAMES = new Set(['a']); export const has = (x: string) => NAMES.has(x);",
    "export const create = () => { const seen = new Map(); let n = 0; return { add: (x) => { seen.set(x, n++); } }; };",
    "const rows = [1]; export const f = (rows: number[]) => rows.push(1);",
    "export class A { static readonly max = 1; #n = 0; }",
    "declare let global: number;",
  ])("%s", (text) => {
    expect(found(text)).toEqual([]);
  });

  test("what the core knows about an object for as long as it lives, unless it hands the table out", () => {
    const core = "packages/core/gateway/src/peer.ts";
    const text = "const peers = new WeakMap(); export const keep = (socket) => peers.set(socket, 1);";
    expect(found(text, core)).toEqual([]);
    expect(found(`export ${text}`, core)).toHaveLength(1);
  });
});
