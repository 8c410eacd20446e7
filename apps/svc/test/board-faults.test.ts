// Boards that fail, on the binary: each fault is told by its code, nothing hangs, nothing is run twice, and other turns are answered.
import { cases } from "@svc/cases";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { type JsonBoardMood, startJsonBoard } from "@svc/testkit/platforms/json-board";
import { missingMicrobit, startMicrobit } from "@svc/testkit/real/emulated-board";
import { missingSocat, startSerialPort } from "@svc/testkit/real/serial-port";
import { requireReal } from "@svc/testkit/require-real";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { homeWith, post, UNGUARDED } from "./daemon.ts";
import { EventReader } from "./governed-fixture.ts";

const binary = fullestBinaryPath();

async function tool(home: string, name: string, input: object): Promise<string> {
  const { stdout, stderr } = await runBinary(["tools", "run", name, "--input", JSON.stringify(input)], {
    home,
    binary,
  });
  return `${stdout}${stderr}`.trim();
}

const serialBoard = (path: string, more = ""): string =>
  `${UNGUARDED}\n[[peripherals.boards]]\nboard = "my-robot"\npath = "${path}"\n${more}`;

test("a board that hangs up, sends garbage or no end, or never answers; a turn beside it is answered", async () => {
  await using board = await startJsonBoard();
  using home = homeWith(
    `${UNGUARDED}\n[[peripherals.boards]]\nboard = "my-robot"\ntransport = "bridge"\npath = "${board.path}"\n`,
  );
  await using daemon = await startBinary({ home: home.path, binary });
  const token = await daemon.pair();
  const faults: readonly (readonly [JsonBoardMood, RegExp])[] = [
    ["unplugged", /BOARD_LOST: .*may have acted/],
    ["garbage", /BOARD_(?:FAILED|TIMEOUT)/],
    ["endless", /BOARD_FAILED: .*without a newline/],
    ["silent", /BOARD_TIMEOUT: .*It may have acted/],
  ];
  for (const [at, [mood, code]] of faults.entries()) {
    board.mood = "sound";
    expect(await tool(home.path, "gpio_read", { pin: 20 })).toContain("GPIO 20 is LOW");
    board.mood = mood;
    const failing = tool(home.path, "gpio_write", { pin: at, value: 1 });
    expect((await post(daemon, token, "hello")).status).toBe(200);
    expect(await failing).toMatch(code);
    const sent = board.commands.filter((line) => line.includes("gpio_write") && line.includes(`"pin":${at}`));
    expect(sent.length).toBeLessThanOrEqual(1);
  }
});

test("a path that is no serial port is refused, and not opened", async () => {
  using home = homeWith("");
  const at = (name: string): string => join(home.path, name);
  writeFileSync(at("file"), "as it was");
  execFileSync("mkfifo", [at("fifo")]);
  symlinkSync("/dev/null", at("null"));
  const paths: [name: string, why: string][] = [
    ["file", "is a regular file"],
    ["fifo", "is a FIFO"],
    ["null", "is another kind of device"],
    [".", "is a folder"],
  ];
  const disk = readdirSync("/dev").find((name) => statSync(`/dev/${name}`, { throwIfNoEntry: false })?.isBlockDevice());
  // A machine without disks, such as a container, has none to show.
  if (disk !== undefined) {
    symlinkSync(`/dev/${disk}`, at("disk"));
    paths.push(["disk", "is a disk"]);
  }
  for (const [name, why] of paths) {
    writeFileSync(at("config.toml"), serialBoard(join(home.path, name)));
    const answer = await tool(home.path, "gpio_write", { pin: 1, value: 1 });
    expect(answer).toContain("BOARD_REFUSED");
    expect(answer).toContain(why);
  }
  expect(readFileSync(at("file"), "utf8")).toBe("as it was");
});

test("a wrong baud rate is a clear error, and the right one works", async (context) => {
  const missing = missingSocat();
  if (missing) requireReal(context, missing);
  await using board = await startJsonBoard();
  using home = homeWith("");
  const path = join(home.path, "port");
  // What a UART makes of bytes at another speed. The kernel keeps the speed that svc has set.
  const speed = (): string => execFileSync("stty", ["-F", path, "speed"]).toString().trim();
  const uart = createServer((socket) => {
    const target = new URL(board.path);
    const wire = createConnection(Number(target.port));
    socket.on("data", (bytes: Buffer) => {
      if (speed() === "115200") wire.write(bytes);
      else socket.write(bytes.map((byte) => byte ^ 0x9c));
    });
    wire.on("data", (bytes) => socket.write(bytes));
    for (const one of [socket, wire])
      one.on("error", () => undefined).on("close", () => (socket.destroy(), wire.destroy()));
  });
  await once(uart.listen(0, "127.0.0.1"), "listening");
  await using port = await startSerialPort(path, uart.address() as AddressInfo);
  writeFileSync(join(home.path, "config.toml"), serialBoard(path, "baud = 9600\n"), { mode: 0o600 });
  const wrong = await tool(home.path, "gpio_write", { pin: 4, value: 1 });
  expect(wrong).toMatch(/BOARD_(?:TIMEOUT|FAILED)/);
  expect(wrong).toContain("baud rate");
  expect(board.pins.get(4)).toBeUndefined();
  writeFileSync(join(home.path, "config.toml"), serialBoard(path, "baud = 115200\n"), { mode: 0o600 });
  expect(await tool(home.path, "gpio_write", { pin: 4, value: 1 })).toBe("GPIO 4 set HIGH on device0");
  expect(board.pins.get(4)).toBe(1);
  await port.unplug();
  uart.close();
});

test("two processes on one port at the same moment: each is whole, or is told that the port is used", async (context) => {
  const missing = missingMicrobit();
  if (missing) requireReal(context, missing);
  await using board = await startMicrobit();
  // Each has a home of its own: what they share is the port.
  const config = `${UNGUARDED}\n[[peripherals.boards]]\nboard = "microbit"\npath = "${board.path}"\n`;
  using first = homeWith(config);
  using second = homeWith(config);
  const homes = [first.path, second.path];
  let won = 0;
  for (let round = 0; round < 3; round += 1) {
    const numbers = [1, 2];
    const answers = await Promise.all(
      homes.map((home, at) => tool(home, "device_exec", { code: `print(${numbers[at]! * 1111})` })),
    );
    for (const [at, answer] of answers.entries()) {
      if (answer.includes("BOARD_BUSY")) continue;
      expect(JSON.parse(answer)).toEqual({ device: "microbit0", output: `${numbers[at]! * 1111}\n` });
      won += 1;
    }
  }
  expect(won).toBeGreaterThan(0);
  expect(await tool(first.path, "device_exec", { code: "print(9)" })).toContain("9");
});

test("a port that comes and goes a hundred times: one alias, each change told once, and the board works in the end", async (context) => {
  const missing = missingSocat();
  if (missing) requireReal(context, missing);
  await using board = await startJsonBoard();
  using home = homeWith("");
  const path = join(home.path, "port");
  const target = { port: Number(new URL(board.path).port) };
  writeFileSync(join(home.path, "config.toml"), serialBoard(path), { mode: 0o600 });
  await using daemon = await startBinary({ home: home.path, binary });
  const token = await daemon.pair();
  await using events = await EventReader.open(daemon.url, token);
  const boards = async (): Promise<unknown> => await (await daemon.request("/api/hardware/boards", { token })).json();
  /** The daemon looks for boards when it is asked for one that it does not know. */
  const look = async (): Promise<number> =>
    (await daemon.request("/api/hardware/introspect", { token, body: { target: "device9" } })).status;
  const storm = cases(100);
  const turns: number[] = [];
  for (let count = 0; count < storm; count += 1) {
    await using port = await startSerialPort(path, target);
    expect(await look()).toBe(404);
    await port.unplug();
    expect(existsSync(path)).toBe(false);
    expect(await look()).toBe(404);
    if (count === Math.floor(storm / 2)) turns.push((await post(daemon, token, "hello")).status);
  }
  expect(turns).toEqual([200]);
  expect(await boards()).toMatchObject({ boards: [{ alias: "device0", connected: false }] });
  expect(await tool(home.path, "gpio_write", { device: "device0", pin: 1, value: 1 })).toContain("BOARD_LOST");
  await using _port = await startSerialPort(path, target);
  expect(await tool(home.path, "gpio_write", { pin: 2, value: 1 })).toBe("GPIO 2 set HIGH on device0");
  expect([...board.pins.keys()]).toEqual([2]);
  const told = events.ofType("hardware-changed").map(({ payload }) => payload);
  const plugged = { added: ["device0"], removed: [], connected: 1 };
  const unplugged = { added: [], removed: ["device0"], connected: 0 };
  expect(told).toMatchObject([...Array.from({ length: storm }, () => [plugged, unplugged]).flat(), plugged]);
});
