// Plugins that run, with the real binary, copied to where nothing of the installation is: hostile ones end in an error of their
// call, their processes hold nothing of the daemon and end with it, and the daemon does not notice any of it.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, expect, test } from "vitest";

const PACKAGE = join(import.meta.dirname, "../../../packages/features/plugins-wasm");

interface Wabt {
  parseWat(name: string, text: string): { toBinary(options: object): { buffer: Uint8Array } };
}

let elsewhere: TemporaryHome;
let binary: string;
let wabt: Wabt;
beforeAll(async () => {
  elsewhere = temporaryHome();
  binary = join(elsewhere.path, "svc");
  copyFileSync(fullestBinaryPath(), binary);
  const load = createRequire(join(PACKAGE, "package.json"))("wabt") as () => Promise<Wabt>;
  wabt = await load();
});
afterAll(() => elsewhere.remove());

/** A plugin of `svc plugin install` in its own folder; its run is `body`, with the host's functions that are used here. */
async function install(home: string, name: string, body: string, more = ""): Promise<void> {
  const folder = join(
    elsewhere.path,
    `${name}-${createHash("sha256")
      .update(body + more)
      .digest("hex")
      .slice(0, 8)}`,
  );
  mkdirSync(folder, { recursive: true });
  const wasm = wabt
    .parseWat(
      name,
      `(module
        (import "extism:host/env" "input_offset" (func $at (result i64)))
        (import "extism:host/env" "input_length" (func $size (result i64)))
        (import "extism:host/env" "output_set" (func $give (param i64 i64)))
        (import "extism:host/env" "length" (func $length (param i64) (result i64)))
        (import "extism:host/env" "http_request" (func $ask (param i64 i64) (result i64)))
        (memory 1 60000)
        (func $deeper (call $deeper) (call $deeper))
        (func (export "run") (local $answer i64) ${body}))`,
    )
    .toBinary({}).buffer;
  writeFileSync(join(folder, "plugin.wasm"), wasm);
  const sha256 = createHash("sha256").update(wasm).digest("hex");
  writeFileSync(
    join(folder, "plugin.toml"),
    `name = "${name}"\nversion = "1.0.0"\ndescription = "Does something for a test."\nwasm = "plugin.wasm"\nsha256 = "${sha256}"\n${more}`,
  );
  const hosts = [...(/allowed_hosts = \["([^"]+)"\]/.exec(more)?.slice(1) ?? [])].flatMap((host) => [
    "--allow-host",
    host,
  ]);
  const installed = await runBinary(["plugin", "install", folder, "--sha256", sha256, ...hosts, "--yes"], {
    home,
    binary,
  });
  expect(installed).toMatchObject({ code: 0 });
}

/** What the tool of the plugin answers, or `{ ok: false, output }`. */
async function call(home: string, plugin: string, input: string): Promise<{ ok: boolean; output: string }> {
  const args = ["tools", "run", `plugin_${plugin}`, "--input", JSON.stringify({ input }), "--json"];
  const { stdout } = await runBinary(args, { home, binary });
  return JSON.parse(stdout) as { ok: boolean; output: string };
}

const ECHO = "(call $give (call $at) (call $size))";

/** Processes whose parent is the daemon. */
const childrenOf = (daemon: RunningBinary): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) === daemon.pid;
      } catch {
        return false;
      }
    });

test("hostile plugins end in an error, the others and the daemon do not notice", async () => {
  using home = temporaryHome();
  await using daemon = await startBinary({ binary, home: home.path });
  const small = "[limits]\nmemory_mb = 8\nmax_output_kb = 1\n";
  const hostile: readonly (readonly [name: string, body: string, message: RegExp])[] = [
    ["trap", "unreachable", /crashed: unreachable/],
    ["loops", "(loop $l (br $l))", /longer than 0\.3 s/],
    ["deep", "(call $deeper)", /crashed/],
    [
      "grows",
      "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (drop (i32.load (i32.const 8388608)))",
      /crashed: memory access/,
    ],
    ["floods", "(call $give (call $at) (i64.const 2000))", /larger than 1024|outside of the memory/],
    ["asks", "(drop (call $ask (call $at) (i64.const 0)))", /not approved/],
  ];
  await install(home.path, "echo", ECHO);
  for (const [name, body] of hostile)
    await install(home.path, name, body, name === "loops" ? `${small}timeout_ms = 300\n` : small);
  for (const [name, , message] of hostile) {
    const input = name === "asks" ? '{"url":"http://169.254.169.254/"}' : "hello";
    expect(await call(home.path, name, input)).toMatchObject({ ok: false, output: expect.stringMatching(message) });
    expect(await call(home.path, "echo", name)).toEqual({ ok: true, output: name });
  }
  expect((await daemon.request("/health")).status).toBe(200);
});

test("a plugin talks to the host that was approved where the operator lets it, and to no other", async () => {
  const server = createServer((request, response) => response.end(`${request.method} ${request.url}`));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    using home = temporaryHome();
    writeFileSync(
      join(home.path, "config.toml"),
      `[security.net]\nallow_private = ["${host}"]\n[security.policy]\nautonomy = "full"\n`,
    );
    await using daemon = await startBinary({ binary, home: home.path });
    const body =
      "(local.set $answer (call $ask (call $at) (i64.const 0))) (call $give (local.get $answer) (call $length (local.get $answer)))";
    await install(home.path, "asks", body, `allowed_hosts = ["${host}"]\n`);
    const ask = (url: string) => call(home.path, "asks", JSON.stringify({ url }));
    expect(await ask(`http://${host}/hello`)).toEqual({ ok: true, output: "GET /hello" });
    expect(await ask("http://127.0.0.1:1/")).toMatchObject({
      ok: false,
      output: expect.stringMatching(/not approved/),
    });
    expect(daemon.output()).toContain("a plugin made a request");
  } finally {
    server.close();
  }
});

test("its process has nothing of the daemon's environment, and ends with the daemon, even in a loop", async ({
  skip,
}) => {
  skip(process.platform !== "linux", "elsewhere there is no /proc to look it up in");
  using home = temporaryHome();
  await using daemon = await startBinary({ binary, home: home.path, env: { SVC_TEST_OF_SECRETS: "a secret" } });
  await install(home.path, "loops", "(loop $l (br $l))", "[limits]\ntimeout_ms = 120000\n");
  const called = call(home.path, "loops", "").catch(() => "ended");
  let pid: number | undefined;
  while (pid === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    // The shell that sets its limits has made room for it.
    pid = childrenOf(daemon).find((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("__plugin-host"));
  }
  const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
  expect(environment).not.toContain("secret");
  expect(environment).not.toContain("SVC_");
  await daemon.kill9();
  await called;
  while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 20));
});

test("without a daemon a plugin runs in the command, which ends when it has", async () => {
  using home = temporaryHome();
  await install(home.path, "echo", ECHO);
  expect(await call(home.path, "echo", "alone")).toEqual({ ok: true, output: "alone" });
});
