/** Runs inside the guest, as root, as the script of its test says. Prints one line of JSON for each step. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { eventually } from "./channel-fixture.ts";
import { localModel, UNGUARDED } from "./daemon.ts";
import { writeProcedure } from "./governed-fixture.ts";

const [bus = ""] = process.argv.slice(2);
const binary = "/run/svc";
const home = "/run/home";
const say = (step: string, value: unknown): void => console.log(`@@${JSON.stringify([step, value])}`);
const run = (program: string, ...args: readonly string[]): string => execFileSync(program, args).toString().trim();
const line = (pin: number, file: string): string => `/sys/devices/platform/gpio-sim.0/gpiochip0/sim_gpio${pin}/${file}`;
const svc = async (...args: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await runBinary(args, { home, binary });
  return `${stdout}${stderr}`.trim();
};
const tool = (name: string, input: object): Promise<string> =>
  svc("tools", "run", name, "--input", JSON.stringify(input));

const PICO = "/run/pico-port";
await using model = await fakeModelServer({ script: () => ({ text: "It is done." }) });
mkdirSync(home);
writeFileSync(
  join(home, "config.toml"),
  `${localModel(model)}
api_key = "key-of-the-test"
${UNGUARDED}
[hardware]
i2c_buses = ["/dev/${bus}"]

[[peripherals.boards]]
board = "raspberry-pi"
transport = "native"
watch = [{ pin = 17, name = "doorbell", edge = "both", debounce_ms = 20 }]

[[peripherals.boards]]
board = "raspberry-pi-pico"
path = "${PICO}"
`,
  { mode: 0o600 },
);
for (const [name, level] of [
  ["pressed", 0],
  ["released", 1],
] as const) {
  writeProcedure(home, name, {
    toml: `[sop]
description = "Looks who is at the door."
max_concurrent = 100
execution_mode = "auto"

[[triggers]]
type = "peripheral"
board = "rpi0"
signal = "doorbell"
condition = "== ${level}"
`,
  });
}

// An emulated processor takes its time.
const start = (): Promise<RunningBinary> => startBinary({ home, binary, longestStartMs: 600_000 });
/** The button connects the pin to ground. */
const turn = (level: "pressed" | "released"): void =>
  writeFileSync(line(17, "pull"), level === "pressed" ? "pull-down" : "pull-up");
turn("released");
let daemon = await start();
const token = await daemon.pair();
/** Names of the procedures that ran, in order of their names. */
const runs = async (): Promise<string> => {
  const answer = await daemon.request("/api/sop-runs?limit=200", { token });
  const { runs: all } = (await answer.json()) as { runs: { sop: string }[] };
  return all
    .map(({ sop }) => sop)
    .toSorted()
    .join(" ");
};
const until = (expected: string): Promise<string> => eventually(runs, (now) => now === expected);
/** The daemon watches the pin, and time has passed in which it could start too much. */
const settled = async (): Promise<void> => {
  await eventually(
    () => run("gpioinfo", "-c", "gpiochip0", "17").includes("consumer="),
    (is) => is,
  );
  await new Promise((resolve) => setTimeout(resolve, 1000));
};

await settled();
say("runs before a press", await runs());
turn("pressed");
say("runs after a press", await until("pressed"));
await daemon.kill9();
daemon = await start();
await settled();
say("runs after a kill", await runs());
turn("released");
say("runs after the release", await until("pressed released"));
turn("pressed");
await new Promise((resolve) => setTimeout(resolve, 60));
await daemon.kill9();
daemon = await start();
await until("pressed pressed released");
await settled();
say("runs after a press that a kill followed at once", await runs());

const gpioget = (pin: number): string => run("gpioget", "--numeric", "-c", "gpiochip0", String(pin));
const levelOf = (pin: number): string => readFileSync(line(pin, "value"), "utf8").trim();
// A line that svc holds is closed to other programs: a wire leads from pin 22 to pin 23, which they look at.
let onWire = "";
const wire = setInterval(() => {
  const level = levelOf(22);
  if (level !== onWire) writeFileSync(line(23, "pull"), level === "1" ? "pull-up" : "pull-down");
  onWire = level;
}, 5);
for (const value of [1, 0] as const) {
  const written = await tool("gpio_rpi_write", { pin: 22, value });
  await eventually(
    async () => onWire,
    (level) => level === String(value),
  );
  say("write", [written, gpioget(23)]);
  writeFileSync(line(5, "pull"), value === 1 ? "pull-up" : "pull-down");
  say("read", [await tool("gpio_rpi_read", { pin: 5 }), gpioget(5)]);
}
const monitor = spawn("gpiomon", ["-c", "gpiochip0", "--format=%e", "23"], { stdio: ["ignore", "pipe", "inherit"] });
let edges = "";
monitor.stdout.setEncoding("utf8").on("data", (text: string) => (edges += text));
await eventually(
  () => run("gpioinfo", "-c", "gpiochip0", "23").includes("consumer="),
  (is) => is,
);
say("blink", await tool("gpio_rpi_blink", { pin: 22, times: 3, on_ms: 1500, off_ms: 1500 }));
monitor.kill();
await once(monitor, "close");
clearInterval(wire);
say("edges", edges.trim().split("\n").join(" "));
say("system", (JSON.parse(await tool("rpi_system_info", {})) as { model: string }).model);
const detected = [...run("i2cdetect", "-y", bus.replace("i2c-", "")).matchAll(/^\d0: (.*)$/gm)];
const { addresses } = JSON.parse(await tool("i2c_scan", {})) as { addresses: string[] };
say("scan", [addresses, detected.flatMap(([, row]) => row!.match(/\b[\da-f]{2}\b/g) ?? []).join(" ")]);

// The drive of a boot loader is FAT, with a file that says what it is.
const firmware = uf2();
mkdirSync(join(home, "hardware/firmware"), { recursive: true });
writeFileSync(join(home, "hardware/firmware/firmware.uf2"), firmware);
writeFileSync(
  "/run/drive.img",
  fatImage("INFO_UF2TXT", "UF2 Bootloader v3.0\r\nModel: Raspberry Pi RP2\r\nBoard-ID: RPI-RP2\r\n"),
);
mkdirSync("/run/drive");
run("mount", "-o", "loop", "/run/drive.img", "/run/drive");
// Its serial port, at which nobody answers.
const port = spawn("socat", [`pty,raw,echo=0,link=${PICO}`, "-"], { stdio: ["pipe", "ignore", "inherit"] });
await eventually(
  () => existsSync(PICO),
  (is) => is,
);
say("flash", await svc("peripheral", "flash", "pico0", "--yes"));
run("umount", "/run/drive");
run("mount", "-o", "loop,ro", "/run/drive.img", "/run/drive");
say("the drive has the image", readFileSync("/run/drive/firmware.uf2").equals(firmware));
port.kill();
await daemon.stop();
process.exit();

/** Three blocks for an RP2040: https://github.com/microsoft/uf2. */
function uf2(): Buffer {
  const blocks = [0, 1, 2].map((number) => {
    const block = Buffer.alloc(512, number);
    const words = [0x0a324655, 0x9e5d5157, 0x2000, 0x1000_0000 + number * 256, 256, number, 3, 0xe48bff56];
    for (const [at, word] of words.entries()) block.writeUInt32LE(word, at * 4);
    block.writeUInt32LE(0x0ab16f30, 508);
    return block;
  });
  return Buffer.concat(blocks);
}

/** A disk of 1.44 MB with FAT12 and one file; `name`: 8 and 3 characters. */
function fatImage(name: string, content: string): Buffer {
  const disk = Buffer.alloc(2880 * 512);
  disk.write("\xeb\x3c\x90mkfs.fat", 0, "latin1");
  disk.writeUInt16LE(512, 11); // bytes a sector
  disk.writeUInt8(1, 13); // sectors a cluster
  disk.writeUInt16LE(1, 14); // sectors before the first FAT
  disk.writeUInt8(2, 16); // FATs
  disk.writeUInt16LE(224, 17); // entries of the root folder
  disk.writeUInt16LE(2880, 19); // sectors
  disk.writeUInt8(0xf0, 21); // kind of disk
  disk.writeUInt16LE(9, 22); // sectors of a FAT
  disk.writeUInt16LE(18, 24);
  disk.writeUInt16LE(2, 26);
  disk.writeUInt16LE(0xaa55, 510);
  // The first two entries are the kind of disk; the file has one cluster.
  for (const fat of [1, 10]) Buffer.from([0xf0, 0xff, 0xff, 0xff, 0x0f]).copy(disk, fat * 512);
  const entry = 19 * 512;
  disk.write(name, entry, "latin1");
  disk.writeUInt8(0x20, entry + 11);
  disk.writeUInt16LE(2, entry + 26);
  disk.writeUInt32LE(content.length, entry + 28);
  disk.write(content, 33 * 512, "latin1");
  return disk;
}
