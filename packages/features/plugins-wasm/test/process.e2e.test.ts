// A plugin that got out of the engine has a process that holds nothing, and whose words are not believed.
import { fakeClock } from "@svc/testkit/fake-clock";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type CallServices, launch, PluginProcess } from "../src/plugin-process.ts";
import { HOST_COMMAND } from "./running/plugin-room.ts";
import { pluginWat, text, wasmOf } from "./running/wat.ts";

const LIMITS = { memoryMb: 16, timeoutMs: 5000, maxOutputBytes: 1000 };
const NONE: CallServices = { request: () => Promise.reject(new Error("none")), log: () => undefined };
const never = new AbortController().signal;

/** A process that runs `script` in place of what belongs there; `say(head, body)` writes a frame, `wait()` reads one. */
function impostor(script: string): PluginProcess {
  const frames = `
    const { readSync, writeSync } = require("node:fs");
    const read = (size) => { const b = Buffer.alloc(size); for (let at = 0; at < size;) { const n = readSync(0, b, at, size - at); if (!n) process.exit(); at += n; } return b; };
    const wait = () => { const p = read(8); const head = JSON.parse(read(p.readUInt32LE(0))); return [head, read(p.readUInt32LE(4))]; };
    const raw = (head, size, body) => { const p = Buffer.alloc(8); p.writeUInt32LE(Buffer.byteLength(head), 0); p.writeUInt32LE(size, 4); writeSync(1, Buffer.concat([p, Buffer.from(head), Buffer.from(body)])); };
    const say = (head, body = "") => raw(JSON.stringify(head), Buffer.byteLength(body), body);
    const stay = () => setInterval(() => undefined, 1000);
  `;
  return new PluginProcess({ command: [process.execPath, "-e", frames + script], limits: LIMITS, clock: fakeClock() });
}

describe("what no plugin's process says ends it", () => {
  it.each([
    ["no frame", 'writeSync(1, "HTTP/1.1 200 OK\\r\\n\\r\\n"); stay();'],
    ["a head that is too long", 'raw("x".repeat(70000), 0, ""); stay();'],
    ["a body that is too long, before any of it is kept", 'raw("{}", 4294967295, ""); stay();'],
    ["a head that is no JSON", 'raw("{", 0, ""); stay();'],
    ["a kind there is none of", 'say({ kind: "exec" }); stay();'],
    ["a frame of the other side", 'say({ kind: "answer", status: 200, headers: {} }); stay();'],
    ["more in its head than belongs there", 'say({ kind: "output", as: "root" }); stay();'],
    ["an answer to what nobody asked", 'say({ kind: "ready" }); stay();'],
    [
      "two requests at once",
      'const r = { kind: "request", method: "GET", url: "http://a/", headers: {} }; say(r); say(r); stay();',
    ],
  ])("%s", async (_, misdeed) => {
    using plugin = ended(impostor(`wait(); say({ kind: "ready" }); wait(); ${misdeed}`));
    await plugin.load(new Uint8Array(), never);
    const waits: CallServices = { ...NONE, request: () => new Promise(() => undefined) };
    await expect(plugin.call(new Uint8Array(), waits, never)).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: "The plugin was stopped: its process said what no plugin can say.",
    });
    expect(plugin.isOver).toBe(true);
  });

  it("a request before there is a call", async () => {
    using plugin = ended(
      impostor('wait(); say({ kind: "request", method: "GET", url: "http://a/", headers: {} }); stay();'),
    );
    await expect(plugin.load(new Uint8Array(), never)).rejects.toMatchObject({ code: "TOOL_FAILED" });
  });

  it("anything, while nobody asks", async () => {
    using plugin = ended(
      impostor('wait(); say({ kind: "ready" }); setTimeout(() => say({ kind: "log" }), 5); stay();'),
    );
    await plugin.load(new Uint8Array(), never);
    while (!plugin.isOver) await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(plugin.call(new Uint8Array(), NONE, never)).rejects.toMatchObject({ code: "TOOL_FAILED" });
  });
});

it("a frame that comes byte by byte, or several in one, are read as they are", async () => {
  using plugin = ended(
    impostor(`wait(); say({ kind: "ready" });
      for (;;) {
        const [, input] = wait();
        const head = Buffer.from(JSON.stringify({ kind: "output" }));
        const prefix = Buffer.alloc(8); prefix.writeUInt32LE(head.length, 0); prefix.writeUInt32LE(input.length, 4);
        const log = Buffer.from(JSON.stringify({ kind: "log" }));
        const logPrefix = Buffer.alloc(8); logPrefix.writeUInt32LE(log.length, 0); logPrefix.writeUInt32LE(1, 4);
        const all = Buffer.concat([logPrefix, log, Buffer.from("!"), prefix, head, input]);
        if (input[0] === 49) for (const byte of all) writeSync(1, Uint8Array.of(byte)); else writeSync(1, all);
      }`),
  );
  await plugin.load(new Uint8Array(), never);
  const lines: string[] = [];
  const services = { ...NONE, log: (line: Uint8Array) => void lines.push(Buffer.from(line).toString()) };
  for (const input of ["1 byte at a time", "all in one"]) {
    expect(Buffer.from(await plugin.call(Buffer.from(input), services, never)).toString()).toBe(input);
  }
  expect(lines).toEqual(["!", "!"]);
});

it("a program that is not there, or does not stay, is told", async () => {
  for (const command of [["/nowhere/svc"], [process.execPath, "-e", "process.exit(3)"]] as const) {
    using plugin = ended(new PluginProcess({ command, limits: LIMITS, clock: fakeClock() }));
    await expect(plugin.load(new Uint8Array(100_000), never)).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringMatching(/can't be started/),
    });
  }
});

it("a process has no environment, no folder, no files of the service, and limits of the kernel", async ({ skip }) => {
  skip(process.platform !== "linux", "elsewhere there is no /proc to look it up in");
  process.env["SVC_TEST_OF_SECRETS"] = "secret";
  const child = launch(HOST_COMMAND, 16);
  try {
    // It answers a load, so that it is what it will be.
    const plugin = await wasmOf('(module (func (export "run")))');
    const { encodeFrame } = await import("../src/frames.ts");
    child.stdin?.write(encodeFrame({ kind: "load", maxPages: 1, maxHostBytes: 1, maxOutputBytes: 1 }, plugin));
    await once(child.stdout!, "data");
    const proc = `/proc/${child.pid}`;
    // What the shell sets on its own behalf may be there; nothing of ours is.
    const environment = await readFile(`${proc}/environ`, "utf8");
    expect(environment.replaceAll(/(?:PWD|OLDPWD|SHLVL|_)=[^\0]*\0/g, "")).toBe("");
    const { readlink, readdir } = await import("node:fs/promises");
    expect(await readlink(`${proc}/cwd`)).toBe("/");
    const open = await Promise.all((await readdir(`${proc}/fd`)).map((fd) => readlink(`${proc}/fd/${fd}`)));
    // Files of the installation and of its own event loop, no database, no socket but the three pipes.
    expect(open.filter((file) => file.startsWith("socket:"))).toHaveLength(3);
    expect(open.filter((file) => !/^(?:socket|pipe|anon_inode):|^\/dev\/null$/.test(file))).toEqual([]);
    const limits = await readFile(`${proc}/limits`, "utf8");
    expect(limits).toMatch(/Max file size +0 +0/);
    expect(limits).toMatch(/Max core file size +0 +0/);
    expect(limits).toMatch(/Max data size +1644167168 +1644167168/);
  } finally {
    delete process.env["SVC_TEST_OF_SECRETS"];
    child.kill("SIGKILL");
  }
});

it("a loop ends with the service, also when that is killed", async ({ skip }) => {
  skip(process.platform === "win32", "Windows has no pipe that could be waited for");
  const here = text(8, "here");
  const wasm = await wasmOf(pluginWat(`(call $log_info ${here.call}) (loop $l (br $l))`, { before: here.data }));
  const service = spawn(
    process.execPath,
    [`${import.meta.dirname}/running/service-with-plugin.ts`, Buffer.from(wasm).toString("base64")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let told = "";
  for await (const chunk of service.stdout) {
    told += String(chunk);
    if (told.includes("\n")) break;
  }
  const pid = Number(told);
  expect(isAlive(pid)).toBe(true);
  service.kill("SIGKILL");
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function ended(plugin: PluginProcess): PluginProcess & Disposable {
  return Object.assign(plugin, { [Symbol.dispose]: () => plugin.end() });
}
