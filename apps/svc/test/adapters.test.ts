// On the binary: a debug probe and an I2C adapter are used by tools, a command and a turn, and what is missing is told.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { compileLibrary, missingCompiler } from "@svc/testkit/real/aardvark-library";
import { missingStm32, startStm32 } from "@svc/testkit/real/stm32";
import { requireReal } from "@svc/testkit/require-real";
import { findProgram } from "@svc/kit/process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith, localModel, post, startPaired } from "./daemon.ts";

const binary = fullestBinaryPath();
const svc = (home: string, ...args: readonly string[]) => runBinary(args, { home, binary });

test("a debug probe: memory is what GDB reads, and the chip is told by the command", async (context) => {
  const missing = missingStm32();
  if (missing) requireReal(context, missing);
  await using target = await startStm32();
  using home = homeWith(
    `[hardware]\ngdb_server = "127.0.0.1:${target.port}"\n\n[security.policy]\nautonomy = "full"\n`,
  );
  const input = JSON.stringify({ address: "0x08000000", length: 256, board: "nucleo-f401re" });
  const read = await svc(home.path, "tools", "run", "hardware_memory_read", "--input", input, "--json");
  expect(read.stderr).toBe("");
  const { bytes } = (JSON.parse(read.stdout) as { output: { bytes: string } }).output;
  const hex = bytes.replaceAll(/0x[\da-f]{8}: |\s/g, "");
  expect(hex).toBe(target.gdb(0x0800_0000, 256).toString("hex"));
  const info = await svc(home.path, "hardware", "info", "--chip", "STM32F401RE");
  expect(info.stdout).toMatch(/STM32F401RE \(nucleo-f401re\)[^]*RAM +0x20000000, 96 KiB/);
  const outside = await svc(
    home.path,
    "tools",
    "run",
    "hardware_memory_read",
    "--input",
    '{"address":"0xe000ed00","board":"nucleo-f401re"}',
  );
  expect(outside).toMatchObject({ code: 1, stdout: expect.stringMatching(/^TOOL_BAD_INPUT: .*not inside the memory/) });
});

test("the memory map of a configured Nucleo has what the chip behind the GDB server says", async (context) => {
  const missing = missingStm32();
  if (missing) requireReal(context, missing);
  await using target = await startStm32();
  using home = homeWith(`[hardware]
gdb_server = "127.0.0.1:${target.port}"

[[peripherals.boards]]
board = "nucleo-f401re"
path = "/dev/ttyACM99"
`);
  const map = async (): Promise<{ readonly live: { readonly error?: string } }> => {
    const { stdout } = await svc(home.path, "tools", "run", "hardware_memory_map", "--json");
    return (JSON.parse(stdout) as { output: { live: { error?: string } } }).output;
  };
  // The emulator does not say when it listens, and a connection would stop its processor.
  const live = await eventually(map, (now) => now.live.error === undefined);
  expect(live).toMatchObject({
    board: "nucleo-f401re",
    memory: [
      { name: "flash", start: "0x08000000", end: "0x0807ffff", bytes: 524_288 },
      { name: "RAM", start: "0x20000000", end: "0x20017fff", bytes: 98_304 },
    ],
    live: { chip: "STM32F401RE", identified: false, memory: [{ name: "flash" }, { name: "RAM" }] },
  });
  await target[Symbol.asyncDispose]();
  expect((await map()).live.error).toMatch(/^REMOTE_UNREACHABLE: /);
});

test("without a GDB server and without OpenOCD the command and the tool say what to configure", async () => {
  using home = homeWith("[hardware]\n");
  const bare = { home: home.path, binary, env: { PATH: home.path } };
  const info = await runBinary(["hardware", "info"], bare);
  expect(info.stderr).toContain('Set gdb_server = "127.0.0.1:3333"');
  expect(info.code).not.toBe(0);
  const read = await runBinary(["tools", "run", "hardware_memory_read", "--input", '{"address":"0x20000000"}'], bare);
  expect(read.code).not.toBe(0);
  expect(`${read.stdout}${read.stderr}`).toMatch(/TOOL_UNAVAILABLE: No device found[^]*Set hardware\.gdb_server/);
});

test("OpenOCD that is installed is started for a reading, and its failure is told", async () => {
  using home = homeWith(`[hardware]
openocd_script = "works"

[security.policy]
autonomy = "full"
`);
  const program = join(import.meta.dirname, "../../../packages/features/probe/test/fake-openocd.ts");
  const start = `#!/bin/sh\ncd '${home.path}' && exec '${process.execPath}' '${program}' "$@"\n`;
  writeFileSync(join(home.path, "openocd"), start, { mode: 0o755 });
  const read = () =>
    runBinary(["tools", "run", "hardware_memory_read", "--input", '{"address":"0x20000000","length":4}'], {
      home: home.path,
      binary,
      env: { PATH: home.path },
    });
  expect((await read()).stdout).toContain("0x20000000: 00 07 0e 15");
  await svc(home.path, "config", "set", "hardware.openocd_script", "finds-no-adapter");
  expect((await read()).stdout).toContain("REMOTE_UNREACHABLE: openocd ended (exit code 1): open [2J failed.");
});

test("OpenOCD itself, without an adapter", async (context) => {
  if ((await findProgram("openocd")) === undefined)
    requireReal(context, { name: "openocd", tier: "B", reason: "not on PATH; apt-get install openocd" });
  using home = homeWith("[hardware]\n");
  const info = await svc(home.path, "hardware", "info");
  expect(info.stderr).toMatch(/openocd ended \(exit code 1\): [^]*\[REMOTE_UNREACHABLE\]/);
  expect(info.code).toBe(69);
});

test("an Aardvark: a turn scans the bus; the adapter is closed at the end, and without its library there is no tool", async (context) => {
  const missing = missingCompiler();
  if (missing) requireReal(context, missing);
  const library = compileLibrary();
  await using model = await fakeModelServer({
    script: ({ body }) =>
      JSON.stringify(body).includes("0x50")
        ? { text: "There are two devices." }
        : { calls: [{ name: "i2c_scan", input: {} }] },
  });
  using home = homeWith(`${localModel(model)}
api_key = "k"

[hardware]
aardvark_library = "${library.file}"

[security.policy]
autonomy = "full"
`);
  const { daemon, token } = await startPaired({ home: home.path, binary });
  expect((await post(daemon, token, "Which devices are on the bus?")).body.response).toBe("There are two devices.");
  expect(library.calls().filter((call) => /^i2c_(?:read|write)_ext/.test(call))).toHaveLength(112);
  await daemon.stop();
  expect(library.calls()).toContain("close 1");
  library.remove();
  const gone = await svc(home.path, "tools", "run", "i2c_scan");
  expect(gone.stdout).toMatch(/TOOL_UNAVAILABLE: No device found: no Aardvark adapter/);
});
