// What a wasm file asks for is told before an engine sees it: a module that can't run here is refused when it is installed.
import { cases } from "@svc/cases";
import { SvcError } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkModule, HOST_FUNCTIONS } from "../src/module.ts";
import { ECHO, pluginWat, wasmOf } from "./running/wat.ts";

const RUN = '(func (export "run"))';

/** What is wrong; undefined: nothing. */
function problem(wasm: Uint8Array, memoryMb = 16): string | undefined {
  try {
    checkModule(wasm, { memoryMb });
    return undefined;
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "PLUGIN_INVALID") throw error;
    return error.message;
  }
}

describe("is taken", () => {
  it.each([
    ["one that has nothing but its entry point", `(module ${RUN})`],
    ["one that has all of the host's functions that these tests know", ECHO],
    ["as much memory as it may have, and a maximum beyond", `(module (memory 256 65536) ${RUN})`],
    [
      "tables, globals, data, elements and a start function",
      pluginWat("(nop)", {
        before:
          '(table 1 funcref) (global i32 (i32.const 0)) (elem (i32.const 0) $s) (data (i32.const 0) "x") (func $s) (start $s)',
      }),
    ],
    ["AssemblyScript's abort", `(module (import "env" "abort" (func (param i32 i32 i32 i32))) ${RUN})`],
  ])("%s", async (_, wat) => {
    expect(problem(await wasmOf(wat))).toBeUndefined();
  });

  it.each([...HOST_FUNCTIONS])("the import of %s", async (name) => {
    expect(problem(await wasmOf(`(module (import "extism:host/env" "${name}" (func)) ${RUN})`))).toBeUndefined();
  });
});

describe("is refused", () => {
  it.each<[what: string, wat: string, message: RegExp, features?: Parameters<typeof wasmOf>[1]]>([
    ["WASI", `(module (import "wasi_snapshot_preview1" "fd_write" (func)) ${RUN})`, /imports WASI/],
    [
      "WASI of a later version",
      `(module (import "wasi:cli/environment@0.2.0" "get-environment" (func)) ${RUN})`,
      /imports WASI/,
    ],
    [
      "a function that the host does not have",
      `(module (import "extism:host/env" "exec" (func)) ${RUN})`,
      /imports extism:host\/env\.exec/,
    ],
    ["a function of nobody", `(module (import "env" "system" (func)) ${RUN})`, /imports env\.system/],
    ["one whose name drives a terminal", `(module (import "env" "\\1b[2J" (func)) ${RUN})`, /imports something/],
    [
      "a function under a name of the language",
      `(module (import "extism:host/env" "__proto__" (func)) ${RUN})`,
      /imports extism/,
    ],
    ["a memory of somebody else", `(module (import "env" "memory" (memory 1)) ${RUN})`, /imports its memory/],
    ["a table of somebody else", `(module (import "env" "table" (table 1 funcref)) ${RUN})`, /imports env\.table/],
    ["a global of somebody else", `(module (import "extism:host/env" "alloc" (global i32)) ${RUN})`, /imports extism/],
    ["no entry point", '(module (func (export "main")))', /exports no function run/],
    ["an entry point that is no function", '(module (memory (export "run") 1))', /exports no function run/],
    ["more memory than it may have", `(module (memory 257) ${RUN})`, /more memory than the 16 MiB/],
    ["two memories", `(module (memory 1) (memory 1) ${RUN})`, /more than one memory/, { multi_memory: true } as never],
    ["shared memory", `(module (memory 1 2 shared) ${RUN})`, /shared or of 64 bits/, { threads: true }],
    ["a memory of 64 bits", `(module (memory i64 1) ${RUN})`, /shared or of 64 bits/, { memory64: true }],
    ["many tables", `(module ${"(table 1 funcref) ".repeat(17)} ${RUN})`, /more than 16 tables/],
  ])("%s", async (_, wat, message, features) => {
    expect(problem(await wasmOf(wat, features))).toMatch(message);
  });

  it("a hundred megabytes of data", async () => {
    const wasm = await wasmOf(`(module (memory 1) ${RUN})`);
    expect(problem(Buffer.concat([wasm, Buffer.alloc(100_000_000)]))).toMatch(/larger than 20 MiB/);
  });

  it("what is no module", () => {
    for (const bytes of [new Uint8Array(), Buffer.from("#!/bin/sh\n"), Buffer.from("\0asm\x02\0\0\0")]) {
      expect(problem(bytes)).toMatch(/no WebAssembly module/);
    }
  });
});

it("a module that is cut off anywhere, or has other bytes somewhere, is told or taken: never more", async () => {
  const whole = await wasmOf(
    pluginWat("(nop)", { before: '(table 1 funcref) (global i32 (i32.const 0)) (data (i32.const 0) "x")' }),
  );
  expect(problem(whole)).toBeUndefined();
  for (let length = 0; length < whole.byteLength; length += 1) problem(whole.subarray(0, length));
  fc.assert(
    fc.property(fc.nat(whole.byteLength - 1), fc.uint8Array({ minLength: 1, maxLength: 12 }), (at, bytes) => {
      const other = Uint8Array.from(whole);
      other.set(bytes.subarray(0, whole.byteLength - at), at);
      problem(other);
    }),
    { numRuns: cases(2000) },
  );
});

it("a list that says it has four thousand million entries takes no time", () => {
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  for (const section of [2, 5, 7]) {
    const bytes = Uint8Array.from([...header, section, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    expect(problem(bytes)).toMatch(/no WebAssembly module/);
  }
});
