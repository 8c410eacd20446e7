// Node takes one function from libatomic.so.1, which small systems lack: binaries hold it themselves, and the bootstrap has a
// library of its own. Both are started in a root that has every library of theirs but that one.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { atomicLibrary, exchangeCode, soname } from "@svc/bootstrap/atomic-exchange";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeLibatomic } from "../src/without-libatomic.ts";

const works = (command: string, args: readonly string[]): boolean => spawnSync(command, args).status === 0;
const isLinux = process.platform === "linux";
const canEnter = isLinux && works("unshare", ["-r", "chroot", "/", "true"]) && works("ldd", ["--version"]);
const source = join(import.meta.dirname, "../../bootstrap/atomic-exchange.S");

describe.skipIf(!canEnter)("without libatomic", { meta: { skipReason: "needs user namespaces and ldd" } }, () => {
  let root = "";

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "svc-root-"));
    for (const name of ["proc", "dev", "tmp", "own"]) mkdirSync(join(root, name));
    // Where the loader looks by itself, whatever the machine calls these folders.
    mkdirSync(join(root, "lib"));
    for (const name of ["lib64", "usr"]) symlinkSync(name === "usr" ? "." : "lib", join(root, name));
    const needed = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
    for (const [, path] of needed.matchAll(/\s(\/\S+)/g)) {
      if (path !== undefined && !path.includes("libatomic"))
        copyFileSync(path, join(root, "lib", path.split("/").at(-1)!));
    }
    copyFileSync(process.execPath, join(root, "node"));
    writeFileSync(join(root, "own", soname), atomicLibrary(process.arch)!);
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const inside = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { status, stdout, stderr } = spawnSync("unshare", ["-r", "chroot", root, program, ...args], {
      env: { PATH: process.env["PATH"], ...env },
      encoding: "utf8",
    });
    return { status, stdout: stdout.trim(), stderr: stderr.trim() };
  };

  test("the root lacks it", () => {
    expect(inside("/node", ["--version"])).toMatchObject({ status: 127, stderr: expect.stringContaining(soname) });
  });

  test("Node starts beside the library of the bootstrap, and says nothing about its version", () => {
    const compiled = "new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0])))";
    const script = `${compiled}; console.log(process.version)`;
    expect(inside("/node", ["-e", script], { LD_LIBRARY_PATH: "/own" })).toEqual({
      status: 0,
      stdout: process.version,
      stderr: "",
    });
  });

  test("a binary starts by itself, and another pass changes nothing", () => {
    const binary = process.env["SVC_BINARY"] ?? resolve(import.meta.dirname, "../../../../dist/minimal/svc");
    const bytes = readFileSync(binary);
    const before = Buffer.from(bytes);
    removeLibatomic(bytes);
    expect(bytes.equals(before)).toBe(true);
    copyFileSync(binary, join(root, "svc"));
    chmodSync(join(root, "svc"), 0o755);
    expect(inside("/svc", ["--version"])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^svc /),
      stderr: "",
    });
  });
});

/** A program that calls the function of the library it is given: what it answers, and 100 000 exchanges by each of four threads. */
const TRIES = `
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
typedef bool (*Exchange)(size_t, void *, void *, void *, int, int);
static Exchange exchange;
static uint64_t total;
static void *add(void *unused) {
  for (int left = 100000; left > 0; left -= 1) {
    uint64_t seen = 0, next;
    do next = seen + 1; while (!exchange(8, &total, &seen, &next, 5, 5));
  }
  return unused;
}
int main(int count, char **arguments) {
  exchange = (Exchange)dlsym(dlopen(arguments[1], RTLD_NOW), "__atomic_compare_exchange");
  uint64_t object = 1, expected = 2, desired = 3;
  if (exchange(8, &object, &expected, &desired, 5, 0) || object != 1 || expected != 1 || desired != 3) return 1;
  if (!exchange(8, &object, &expected, &desired, 3, 0) || object != 3 || expected != 1 || desired != 3) return 2;
  pthread_t threads[4];
  for (int n = 0; n < 4; n += 1) pthread_create(&threads[n], NULL, add, NULL);
  for (int n = 0; n < 4; n += 1) pthread_join(threads[n], NULL);
  printf("ok %llu\\n", (unsigned long long)total);
}
`;

const GCC = { name: "gcc", reason: "gcc is not on PATH; apt-get install gcc libc6-dev" };
const BINUTILS = { name: "binutils", reason: "readelf is not on PATH; apt-get install binutils" };

describe.skipIf(!isLinux)("the function", { meta: { skipReason: "is of Linux" } }, () => {
  test("is what its source is assembled to, and exchanges", (context) => {
    if (!works("gcc", ["--version"]) || !works("objcopy", ["--version"])) requireReal(context, GCC);
    const folder = mkdtempSync(join(tmpdir(), "svc-exchange-"));
    const at = (name: string): string => join(folder, name);
    try {
      execFileSync("gcc", ["-c", source, "-o", at("code.o")]);
      execFileSync("objcopy", ["-O", "binary", "-j", ".text", at("code.o"), at("code.bin")]);
      const machine = process.arch === "x64" ? 62 : 183;
      expect(readFileSync(at("code.bin")).toString("hex")).toBe(exchangeCode.get(machine)!.toString("hex"));
      writeFileSync(at(soname), atomicLibrary(process.arch)!);
      writeFileSync(at("main.c"), TRIES);
      execFileSync("gcc", ["-O2", at("main.c"), "-ldl", "-lpthread", "-o", at("main")]);
      expect(execFileSync(at("main"), [at(soname)], { encoding: "utf8" })).toBe("ok 400000\n");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("is called by Node for 8 bytes only", (context) => {
    context.skip(process.arch !== "x64", "reads code of x86-64");
    const { status, stdout } = spawnSync("readelf", ["-rW", process.execPath], { encoding: "utf8", maxBuffer: 1e8 });
    if (status !== 0) requireReal(context, BINUTILS);
    const slot = /^([0-9a-f]+) .* __atomic_compare_exchange@/m.exec(stdout)![1]!;
    const sizes = callSizes(readFileSync(process.execPath), parseInt(slot, 16));
    expect([sizes.length > 0, new Set(sizes)]).toEqual([true, new Set([8])]);
  });

  test("a file of another form is refused, and stays as it is", () => {
    const lazy = readFileSync(process.execPath);
    const flags = Buffer.alloc(16);
    flags.writeBigUInt64LE(0x6fff_fffbn, 0);
    flags.writeBigUInt64LE(1n, 8);
    lazy.fill(0, lazy.indexOf(flags) + 8, lazy.indexOf(flags) + 16);
    const before = Buffer.from(lazy);
    expect(() => removeLibatomic(lazy)).toThrow("bound lazily");
    expect(lazy.equals(before)).toBe(true);
    expect(() => removeLibatomic(Buffer.from("#!/bin/sh\nexit 0\n".padEnd(100)))).toThrow("no ELF file");
  });
});

/**
 * Sizes that x86-64 code hands to a function: the constant of the last `mov edi` before each call of the function's entry in
 * the linkage table (`jmp [rip+n]`, to the address that stands in `slot`).
 */
function callSizes(program: Buffer, slot: number): (number | undefined)[] {
  const { offset, address, size } = codeOf(program);
  const code = program.subarray(offset, offset + size);
  const target = (at: number, bytes: number): number => at + bytes + code.readInt32LE(at + bytes - 4);
  const entry = places(code, [0xff, 0x25]).find((at) => address + target(at, 6) === slot)!;
  const calls = places(code, [0xe8]).filter((at) => at + 5 <= size && target(at, 5) === entry);
  return calls.map((at) => {
    const before = code.subarray(at - 64, at);
    const set = before.lastIndexOf(0xbf);
    return set === -1 ? undefined : before.readUInt32LE(set + 1);
  });
}

function codeOf(program: Buffer): { offset: number; address: number; size: number } {
  const first = Number(program.readBigUInt64LE(32));
  for (let at = first; ; at += 56) {
    if (program.readUInt32LE(at) !== 1 || (program.readUInt32LE(at + 4) & 1) === 0) continue;
    const [offset, address, size] = [8, 16, 32].map((field) => Number(program.readBigUInt64LE(at + field)));
    return { offset: offset!, address: address!, size: size! };
  }
}

function places(code: Buffer, bytes: readonly number[]): number[] {
  const found: number[] = [];
  const wanted = Buffer.from(bytes);
  for (let at = code.indexOf(wanted); at !== -1; at = code.indexOf(wanted, at + 1)) found.push(at);
  return found;
}
