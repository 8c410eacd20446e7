// Boards through the whole binary: commands and tools with and without a daemon, a turn that uses a board, aliases that stay, and a
// MicroPython board whose programs are written and run.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@svc/contract";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { startJsonBoard } from "@svc/testkit/platforms/json-board";
import { missingMicrobit, startMicrobit } from "@svc/testkit/real/emulated-board";
import { startMicroPython } from "@svc/testkit/real/micropython";
import { missingSocat } from "@svc/testkit/real/serial-port";
import { missingStm32, startStm32 } from "@svc/testkit/real/stm32";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith, localModel, post, UNGUARDED } from "./daemon.ts";

const binary = fullestBinaryPath();
const bridge = (path: string): string => `
[[peripherals.boards]]
board = "my-robot"
transport = "bridge"
path = "${path}"
`;

interface Run {
  readonly code: number | null;
  readonly text: string;
}

async function svc(home: string, ...args: readonly string[]): Promise<Run> {
  const { code, stdout, stderr } = await runBinary(args, { home, binary });
  return { code, text: `${stdout}${stderr}`.trim() };
}

const tool = (home: string, name: string, input: object): Promise<Run> =>
  svc(home, "tools", "run", name, "--input", JSON.stringify(input));

test("a machine without boards says so, whatever the config has, and each tool does too", async () => {
  using home = temporaryHome();
  const off = await svc(home.path, "hardware", "discover");
  expect(off).toMatchObject({ code: 0 });
  expect(off.text).toContain("[hardware] is off");
  expect((await svc(home.path, "tools", "list")).text).not.toContain("gpio_write");
});

/** Of all features that have to do with boards, with an input that each would take. */
const TOOLS: Readonly<Record<string, { readonly [key: string]: Json }>> = {
  gpio_write: { device: "pico7", pin: 25, value: 1 },
  gpio_read: { pin: 25 },
  pico_flash: { confirm: true },
  device_exec: { device: "pico7", code: "print(1)" },
  device_read_code: {},
  device_write_code: { code: "print(1)" },
  hardware_board_info: {},
  hardware_memory_map: {},
  hardware_capabilities: {},
  hardware_memory_read: { address: "0x20000000" },
  i2c_scan: {},
  i2c_read: { address: 80, length: 1 },
  i2c_write: { address: 80, bytes: [1] },
  spi_transfer: { bytes: [1] },
  gpio_aardvark: { action: "read" },
  datasheet: { action: "list" },
  gpio_rpi_write: { pin: 17, value: 1 },
  gpio_rpi_read: { pin: 17 },
  gpio_rpi_blink: { pin: 17 },
  rpi_system_info: {},
};

test("without boards each tool that is asked for says that no device was found, and discover ends well", async () => {
  const calls = Object.entries(TOOLS).map(([name, input]) => ({ name, input }));
  await using model = await fakeModelServer({ script: [{ calls }, { text: "There is none." }] });
  using home = homeWith(`${localModel(model)}\napi_key = "key-of-the-test"\n${UNGUARDED}\n[hardware]\n`);
  const found = await svc(home.path, "hardware", "discover", "--json");
  expect(found.code).toBe(0);
  expect(JSON.parse(found.text)).toEqual({ boards: [], enabled: true });
  expect(await svc(home.path, "hardware", "discover")).toEqual({
    code: 0,
    text: "No device found: no board is connected, and none is configured.",
  });
  expect(await tool(home.path, "gpio_write", { pin: 25, value: 1 })).toMatchObject({
    code: 1,
    text: expect.stringContaining("No device found") as unknown,
  });
  // OpenOCD would be started where it is installed.
  const daemon = await startBinary({ home: home.path, binary, env: { PATH: home.path } });
  await using _end = daemon;
  expect((await post(daemon, await daemon.pair(), "what is there?")).body.response).toBe("There is none.");
  const { messages } = model.requests.at(-1)!.body as { messages: { role: string; content: string }[] };
  const answers = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(answers).toHaveLength(calls.length);
  for (const answer of answers) expect(answer).toContain("No device found");
});

test("a board behind a bridge, without a daemon, with one, and in a turn", async () => {
  await using board = await startJsonBoard();
  await using model = await fakeModelServer({
    script: [{ calls: [{ name: "gpio_write", input: { pin: 13, value: 1 } }] }, { text: "The LED is on." }],
  });
  using home = homeWith(`${localModel(model)}\napi_key = "k"\n${UNGUARDED}\n${bridge(board.path)}`);
  expect(await tool(home.path, "gpio_write", { pin: 4, value: 1 })).toEqual({
    code: 0,
    text: "GPIO 4 set HIGH on device0",
  });
  expect(board.pins.get(4)).toBe(1);
  await using daemon = await startBinary({ home: home.path, binary });
  expect((await tool(home.path, "gpio_read", { pin: 4 })).text).toBe("GPIO 4 is HIGH (1) on device0");
  const token = await daemon.pair();
  expect((await post(daemon, token, "switch it on")).body.response).toBe("The LED is on.");
  expect(board.pins.get(13)).toBe(1);
  const asked = JSON.stringify(model.requests[0]!.body);
  expect(asked).toContain("Connected devices:\\ndevice0: my-robot, connected");
  const { boards } = (await (await daemon.request("/api/hardware/boards", { token })).json()) as { boards: unknown[] };
  expect(boards).toMatchObject([
    {
      alias: "device0",
      board: "my-robot",
      protocol: "json",
      connected: true,
      readings: [
        { pin: 13, value: 1, by: "written" },
        { pin: 4, value: 1, by: "read" },
      ],
    },
  ]);
  expect((await svc(home.path, "hardware", "introspect", "device0")).text).toContain("device0: JSON lines");
  expect((await svc(home.path, "hardware", "introspect", "/dev/null")).text).toContain("BOARD_REFUSED");
  expect((await svc(home.path, "peripheral", "list")).text).toContain("device0  my-robot");
});

test("peripheral add writes an entry that can be used at once, and refuses what could never work", async () => {
  await using board = await startJsonBoard({ form: "without ids" });
  using home = homeWith(`${UNGUARDED}`);
  await using daemon = await startBinary({ home: home.path, binary });
  expect(daemon.pid).toBeGreaterThan(0);
  const added = await svc(home.path, "peripheral", "add", "arduino-uno", board.path);
  expect(added).toMatchObject({ code: 0 });
  expect(readFileSync(join(home.path, "config.toml"), "utf8")).toContain(
    `[[peripherals.boards]]\nboard = "arduino-uno"\ntransport = "bridge"\npath = "${board.path}"\n`,
  );
  expect((await tool(home.path, "gpio_write", { device: "arduino0", pin: 2, value: 1 })).text).toBe(
    "GPIO 2 set HIGH on arduino0",
  );
  expect((await svc(home.path, "peripheral", "add", "arduino-uno", board.path)).text).toContain("CONFIG_EXISTS");
  for (const [name, path] of [
    ["Pico", "/dev/ttyACM0"],
    ["pico", "ttyACM0"],
    ["pico", "tcp://127.0.0.1:0"],
  ]) {
    expect(await svc(home.path, "peripheral", "add", name!, path!)).toMatchObject({ code: 64 });
  }
  expect((await svc(home.path, "peripheral", "flash", "arduino0")).text).toContain("Add --yes");
  expect((await svc(home.path, "peripheral", "flash", "arduino0", "--yes")).text).toContain("FIRMWARE_INVALID");
});

test("an alias stays when another board comes first in the config, and when [hardware] is added", async () => {
  await using one = await startJsonBoard();
  await using two = await startJsonBoard();
  using home = homeWith(`${UNGUARDED}\n${bridge(one.path)}`);
  await tool(home.path, "gpio_write", { device: "device0", pin: 1, value: 1 });
  using later = homeWith(`${UNGUARDED}\n[hardware]\n${bridge(two.path)}${bridge(one.path)}`);
  writeFileSync(join(home.path, "config.toml"), readFileSync(join(later.path, "config.toml")));
  await tool(home.path, "gpio_write", { device: "device0", pin: 2, value: 1 });
  await tool(home.path, "gpio_write", { device: "device1", pin: 3, value: 1 });
  expect([...one.pins.keys()]).toEqual([1, 2]);
  expect([...two.pins.keys()]).toEqual([3]);
});

test("a MicroPython board: code is run, written and read back, and its pins are used", async (context) => {
  const missing = missingMicrobit();
  if (missing) requireReal(context, missing);
  await using board = await startMicrobit();
  using home = homeWith(
    `${UNGUARDED}\n[hardware]\n[[peripherals.boards]]\nboard = "microbit"\npath = "${board.path}"\n`,
  );
  await using daemon = await startBinary({ home: home.path, binary });
  expect(daemon.pid).toBeGreaterThan(0);
  const output = async (name: string, input: object): Promise<unknown> => {
    const { text } = await tool(home.path, name, input);
    return text.startsWith("{") ? (JSON.parse(text) as unknown) : text;
  };
  expect(await output("device_exec", { code: "print(6 * 7)" })).toEqual({ device: "microbit0", output: "42\n" });
  expect(await output("device_exec", { code: "1/0" })).toMatchObject({
    error: expect.stringContaining("ZeroDivisionError") as unknown,
  });
  const code = "from microbit import *\n\npin0.write_digital(1)\n";
  expect(await output("device_write_code", { code })).toContain(`Wrote ${code.length} bytes to main.py on microbit0.`);
  expect(await output("device_read_code", {})).toEqual({ device: "microbit0", file: "main.py", code });
  expect(await output("gpio_write", { pin: 0, value: 1 })).toBe("GPIO 0 set HIGH on microbit0");
  expect(await output("gpio_read", { pin: 0 })).toBe("GPIO 0 is LOW (0) on microbit0");
  expect(await output("gpio_read", { pin: 99 })).toContain("TOOL_BAD_INPUT");
  expect(await output("device_exec", { code: "while True: pass", timeout_secs: 1 })).toContain("BOARD_TIMEOUT");
  const { text } = await svc(home.path, "hardware", "introspect", "microbit0", "--json");
  expect(JSON.parse(text)).toMatchObject({ protocol: "micropython", about: { version: "1.9.2" } });
});

test("a Pico's MicroPython: its analog converter, its pins, its program", async (context) => {
  const missing = missingSocat();
  if (missing) requireReal(context, missing);
  await using board = await startMicroPython();
  using home = homeWith(
    `${UNGUARDED}\n[hardware]\n[[peripherals.boards]]\nboard = "raspberry-pi-pico"\npath = "${board.path}"\n`,
  );
  await using daemon = await startBinary({ home: home.path, binary });
  expect(daemon.pid).toBeGreaterThan(0);
  const output = async (name: string, input: object): Promise<string> => (await tool(home.path, name, input)).text;
  expect(await output("gpio_read", { pin: 26, analog: true })).toBe("GPIO 26 reads 26000 on pico0");
  expect(await output("gpio_read", { pin: 3, analog: true })).toContain("Pin doesn't have ADC capabilities");
  expect(await output("gpio_write", { pin: 25, value: 1 })).toBe("GPIO 25 set HIGH on pico0");
  expect(await output("gpio_read", { pin: 25 })).toBe("GPIO 25 is HIGH (1) on pico0");
  const code = "print('from the program')\n";
  expect(await output("device_write_code", { code })).toContain(`Wrote ${code.length} bytes to main.py on pico0.`);
  expect(JSON.parse(await output("device_read_code", {}))).toEqual({ device: "pico0", file: "main.py", code });
  expect(JSON.parse(await output("device_exec", { code: "import main" }))).toEqual({
    device: "pico0",
    output: "from the program\n",
  });
});

test("hardware_memory_read tells the bytes that GDB tells", async (context) => {
  const missing = missingStm32();
  if (missing) requireReal(context, missing);
  await using target = await startStm32();
  using home = homeWith(`${UNGUARDED}\n[hardware]\ngdb_server = "127.0.0.1:${target.port}"\n`);
  await using daemon = await startBinary({ home: home.path, binary });
  expect(daemon.pid).toBeGreaterThan(0);
  const read = async (address: string, length: number): Promise<string> => {
    const { text } = await tool(home.path, "hardware_memory_read", { address, length, board: "nucleo-f401re" });
    if (!text.startsWith("{")) return text;
    return (JSON.parse(text) as { bytes: string }).bytes.replaceAll(/0x[\da-f]{8}: |\s/g, "");
  };
  // Once the emulator listens and its firmware has begun.
  await eventually(
    () => read("0x20000000", 8),
    (bytes) => bytes === "efbeadde78563412",
  );
  expect(target.gdb(0x2000_0000, 8).toString("hex")).toBe("efbeadde78563412");
  expect(await read("0x08000000", 4096)).toBe(target.gdb(0x0800_0000, 4096).toString("hex"));
  expect(await read("0x40000000", 4)).toContain("TOOL_BAD_INPUT");
});
