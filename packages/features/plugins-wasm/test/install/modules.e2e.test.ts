// A module is judged before anybody is asked about it: what can't run here is not installed, and one that keeps the engine busy for
// minutes keeps nobody waiting.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { type TemporaryHome, temporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plugin, type CommandSetup } from "./fixture.ts";
import { wasmOf, writeSample } from "./sample.ts";

let home: TemporaryHome;
let source = "";
beforeEach(() => {
  home = temporaryHome();
  source = join(home.path, "source");
});
afterEach(() => home.remove());

const install = (setup: Omit<CommandSetup, "home">) => plugin(["install", source], { home: home.path, ...setup });
const isAnythingLeft = (): boolean => existsSync(join(home.path, "plugins"));

describe("a module that may not run here is not asked about", () => {
  const memory = (wat: string): string => `(module ${wat} (func (export "run")))`;
  test.each<[string, Uint8Array, string]>([
    ["no module", Buffer.from("hello"), "no WebAssembly module"],
    ["no run", wasmOf("(module)"), "exports no function run"],
    ["WASI", wasmOf('(module (import "wasi_snapshot_preview1" "fd_write" (func)) (func (export "run")))'), "WASI"],
    ["more memory than it may have", wasmOf(memory("(memory 2000)")), "more memory"],
    ["code that the engine does not take", Buffer.from(broken()), "The engine does not take"],
  ])("%s", async (_, wasm, text) => {
    writeSample(source, { wasm });
    const { end, error, asked } = await install({ answers: [] });
    expect({ end, asked }).toEqual({ end: "PLUGIN_INVALID", asked: [] });
    expect(error?.message).toContain(text);
    expect(isAnythingLeft()).toBe(false);
  });

  /** Right from outside, and an addition without anything to add within. */
  function broken(): Uint8Array {
    const bytes = Buffer.from(wasmOf('(module (func (export "run") (drop (i32.add (i32.const 77) (i32.const 77)))))'));
    bytes[bytes.indexOf(Buffer.from([0x41, 77 | 0x80]))] = 0x01;
    return bytes;
  }

  test("one that keeps the engine busy is given up", async () => {
    // It would take seconds to minutes; the time that it may take is over at once.
    const clock = {
      now: Date.now,
      monotonic: () => 0,
      sleep: async () => {},
      after: (_: number, run: () => void) => (run(), () => {}),
    };
    writeSample(source, { wasm: busyModule(200_000) });
    const { end, error, asked } = await install({ answers: [], clock });
    expect({ end, asked }).toEqual({ end: "PLUGIN_INVALID", asked: [] });
    expect(error?.message).toContain("takes more than 10 s");
  });

  test("whoever gives up waiting for the check ends it", async () => {
    const interrupted = new AbortController();
    const reason = new SvcError("CANCELLED");
    const clock = {
      now: Date.now,
      monotonic: () => 0,
      sleep: async () => {},
      after: () => (interrupted.abort(reason), () => {}),
    };
    writeSample(source, { wasm: busyModule(200_000) });
    expect((await install({ answers: [], clock, signal: interrupted.signal })).end).toBe("CANCELLED");
    expect(isAnythingLeft()).toBe(false);
  });

  function busyModule(functions: number): Uint8Array {
    const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >> 7)]);
    const section = (id: number, body: Uint8Array): Uint8Array =>
      Buffer.concat([Buffer.from([id, ...leb(body.length)]), body]);
    const one = Buffer.from([6, 1, ...leb(50_000), 0x7f, 0x0b]);
    return Buffer.concat([
      Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
      section(1, Buffer.from([1, 0x60, 0, 0])),
      section(3, Buffer.concat([Buffer.from(leb(functions)), Buffer.alloc(functions)])),
      section(7, Buffer.from([1, 3, 0x72, 0x75, 0x6e, 0, 0])),
      section(10, Buffer.concat([Buffer.from(leb(functions)), ...Array.from({ length: functions }, () => one)])),
    ]);
  }
});
