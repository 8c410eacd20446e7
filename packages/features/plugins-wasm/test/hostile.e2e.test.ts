// Whatever a plugin does to get out, to stay, or to take everything, ends in an error of its call, and the next call works.
import type { ErrorCode } from "@svc/contract";
import { afterAll, describe, expect, it } from "vitest";
import { pluginRoom } from "./running/plugin-room.ts";
import { ECHO, pluginWat, text, wasmOf } from "./running/wat.ts";

const room = pluginRoom();
afterAll(() => room[Symbol.dispose]());

/** The plugin of a call that fails so, with the input "bad". */
async function expectFailure(wat: string | Uint8Array, code: ErrorCode, message: RegExp) {
  const plugin = await room.plugin(wat);
  await expect(room.call(plugin, "bad")).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  return plugin;
}

/** Does `bad` where the input begins with "b", and gives the input back otherwise. */
const onlyBad = (bad: string, options: { before?: string; memory?: string } = {}): string =>
  pluginWat(
    `(local $i i32) (local $block i64)
     (if (i32.eq (call $input_load_u8 (i64.const 0)) (i32.const 98)) (then ${bad}))
     (call $output_set (call $input_offset) (call $input_length))`,
    options,
  );

describe("ends in an error, and the next call works", () => {
  const cases: [what: string, bad: string, message: RegExp, options?: { before?: string; memory?: string }][] = [
    ["a trap", "unreachable", /crashed: unreachable/],
    ["memory out of bounds", "(drop (i32.load (i32.const -4)))", /crashed: memory access out of bounds/],
    [
      "recursion without an end",
      "(call $deeper)",
      /crashed: .*stack/,
      { before: "(func $deeper (call $deeper) (call $deeper))" },
    ],
    [
      "output in no block",
      "(call $output_set (i64.const 281474976710656000) (i64.const 1)) (return)",
      /outside of the memory/,
    ],
    [
      "output longer than its block",
      "(call $output_set (call $input_offset) (i64.const 4)) (return)",
      /outside of the memory/,
    ],
    [
      "output of a negative length",
      "(call $output_set (call $input_offset) (i64.const -1)) (return)",
      /outside of the memory/,
    ],
    [
      "output that is too large",
      "(call $output_set (call $alloc (i64.const 65537)) (i64.const 65537)) (return)",
      /larger than 65536 bytes/,
    ],
    ["a block of the host that is too large", "(drop (call $alloc (i64.const 17000000)))", /more memory of the host/],
    ["a block of a negative size", "(drop (call $alloc (i64.const -1)))", /more memory of the host/],
    [
      "blocks without an end",
      "(loop $more (drop (call $alloc (i64.const 1000000))) (br $more))",
      /more memory of the host/,
    ],
    ["empty blocks without an end", "(loop $more (drop (call $alloc (i64.const 0))) (br $more))", /too often/],
    [
      "a place outside of its block",
      "(call $store_u8 (i64.add (call $alloc (i64.const 4)) (i64.const 4)) (i32.const 1))",
      /crashed/,
    ],
    [
      "a request without a host to talk to",
      `(drop (call $http_request ${text(8, '{"url":"https://example.org/"}').call} (i64.const 0)))`,
      /not approved/,
      { before: text(8, '{"url":"https://example.org/"}').data },
    ],
    [
      "a request that is none",
      `(drop (call $http_request ${text(8, "[1,").call} (i64.const 0)))`,
      /request is malformed/,
      { before: text(8, "[1,").data },
    ],
    ["a request from nowhere", "(drop (call $http_request (i64.const -1) (i64.const -1)))", /request is malformed/],
    [
      "variables without an end",
      `(local.set $block (call $alloc (i64.const 1)))
       (loop $more
         (call $store_u8 (local.get $block) (local.get $i)) (call $var_set (local.get $block) (local.get $block))
         (local.set $i (i32.add (local.get $i) (i32.const 1))) (br $more))`,
      /128 variables/,
    ],
    [
      "what it says itself went wrong",
      `(call $error_set ${text(8, "no\n such\u001b[31m city").call}) (return)`,
      /^The plugin reports an error: no\s+such \[31m city$/,
      { before: text(8, "no\n such\u001b[31m city").data },
    ],
  ];
  it.each(cases)("%s", async (_, bad, message, options) => {
    const plugin = await expectFailure(onlyBad(bad, options), "TOOL_FAILED", message);
    expect(await room.call(plugin, "good")).toBe("good");
  });
});

describe("what it gives that is no text", () => {
  const giving = (bytes: string, size: number): string =>
    pluginWat(`(call $output_set (call $text (i32.const 8) (i32.const ${size})) (i64.const ${size}))`, {
      before: `(data (i32.const 8) "${bytes}")`,
    });

  it.each([
    ["bytes that are not UTF-8", giving(String.raw`a\ff\fe`, 3), /not UTF-8/],
    ["a character that is cut off", giving(String.raw`\c3`, 1), /not UTF-8/],
    ["NUL characters", giving(String.raw`a\00b`, 3), /NUL/],
  ])("%s", async (_, wat, message) => {
    const plugin = await room.plugin(wat);
    await expect(room.call(plugin)).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringMatching(message),
    });
  });

  it("nothing at all is told in words", async () => {
    const plugin = await room.plugin(pluginWat("(nop)"));
    expect(await room.call(plugin)).toBe("The plugin gave no output.");
    const empty = await room.plugin(giving("", 0));
    expect(await room.call(empty)).toBe("The plugin gave no output.");
  });

  it("is told by the number of the entry point alone", async () => {
    const wat = '(module (func (export "run") (result i32) (i32.const 3)))';
    await expectFailure(wat, "TOOL_FAILED", /ended with 3/);
    const plugin = await room.plugin('(module (func (export "run") (result i32) (i32.const 0)))');
    expect(await room.call(plugin)).toBe("The plugin gave no output.");
  });

  it("as much as was said, not all of the block it is in", async () => {
    const plugin = await room.plugin(
      pluginWat("(call $output_set (i64.add (call $input_offset) (i64.const 1)) (i64.const 2))"),
    );
    expect(await room.call(plugin, "abcd")).toBe("bc");
  });
});

describe("modules that should have been refused before", () => {
  it("one whose code is wrong ends in an error that says so", async () => {
    const wasm = await wasmOf('(module (func (export "run") (nop)))');
    // The body's `nop` becomes `drop`, of nothing.
    wasm[wasm.lastIndexOf(0x01)] = 0x1a;
    const plugin = await expectFailure(wasm, "PLUGIN_INVALID", /engine does not take/);
    await expect(room.call(plugin)).rejects.toMatchObject({ code: "PLUGIN_INVALID" });
  });

  it("one that calls a function of the host in another way than it is", async () => {
    const wat = `(module (import "extism:host/env" "input_length" (func $f (param i32) (result i32)))
      (func (export "run") (drop (call $f (i32.const 0)))))`;
    const plugin = await expectFailure(wat, "TOOL_FAILED", /crashed/);
    await expect(room.call(plugin)).rejects.toMatchObject({ code: "TOOL_FAILED" });
  });

  it("one that was changed since it was approved", async () => {
    const plugin = await room.plugin(ECHO);
    expect(await room.call(plugin, "x")).toBe("x");
    const changed = {
      ...plugin,
      name: "changed",
      sha256: plugin.sha256.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
    };
    await expect(room.call(changed)).rejects.toMatchObject({ code: "PLUGIN_CHANGED" });
    await expect(room.call({ ...plugin, name: "gone", wasmFile: "/nowhere.wasm" })).rejects.toMatchObject({
      code: "PLUGIN_CHANGED",
    });
  });
});

it("what one call has written is not there in the next", async () => {
  // Gives the byte at 100, and what the variable "k" has; then writes both.
  const key = text(8, "k");
  const plugin = await room.plugin(
    pluginWat(
      `(local $key i64) (local $block i64)
       (local.set $key ${key.call})
       (local.set $block (call $alloc (i64.const 2)))
       (call $store_u8 (local.get $block) (i32.add (i32.const 48) (i32.load8_u (i32.const 100))))
       (call $store_u8 (i64.add (local.get $block) (i64.const 1))
         (i32.add (i32.const 48) (i64.ne (call $var_get (local.get $key)) (i64.const 0))))
       (i32.store8 (i32.const 100) (i32.const 1))
       (call $var_set (local.get $key) (local.get $key))
       (if (i64.eqz (call $var_get (local.get $key))) (then unreachable))
       (call $output_set (local.get $block) (i64.const 2))`,
      { before: key.data },
    ),
  );
  expect([await room.call(plugin), await room.call(plugin)]).toEqual(["00", "00"]);
});

it("its log is short lines at debug, without control characters, and a hundred of them", async () => {
  using own = pluginRoom();
  const line = text(8, `one\r\n\u001b[2Jtwo\u202e${"x".repeat(2000)}`);
  const plugin = await own.plugin(
    pluginWat(
      `(local $i i32) (local $block i64) (local.set $block ${line.call})
       (loop $more (call $log_info (local.get $block))
         (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 5000))))`,
      { before: line.data },
    ),
  );
  await own.call(plugin);
  expect(own.log.lines).toHaveLength(100);
  const [first] = own.log.lines;
  expect(first).toMatchObject({ level: "debug", fields: { plugin: plugin.name } });
  expect(first?.fields["line"]).toMatch(/^one \[2Jtwo x{900,1024}$/);
});

it("an input of any text arrives as it is", async () => {
  const plugin = await room.plugin(ECHO, { limits: { memoryMb: 16, timeoutMs: 5000, maxOutputBytes: 4_000_000 } });
  for (const input of ["", "ä€😀\n\t\u001b", "\ufeffmark", "x".repeat(1_000_000)]) {
    expect(await room.call(plugin, input)).toBe(input || "The plugin gave no output.");
  }
});
