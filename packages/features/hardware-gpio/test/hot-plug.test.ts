// Boards come and go: aliases stay with their board, over restarts too; what changes is told once; a storm of it neither mixes boards up
// nor fills the database.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, expect, test } from "vitest";
import { boardsFeature } from "../src/hardware.ts";
import { registryOf } from "./registry.ts";

let root: TemporaryHome;
beforeEach(() => void (root = temporaryHome()));
afterEach(() => root[Symbol.dispose]());

interface Plugged {
  readonly id: string;
  readonly serial?: string;
  readonly port?: string;
}

function plug(address: string, { id, serial, port }: Plugged): void {
  const device = join(root.path, "sys/devices/usb1", address);
  mkdirSync(device, { recursive: true });
  const [vendor = "", product = ""] = id.split(":");
  writeFileSync(join(device, "idVendor"), `${vendor}\n`);
  writeFileSync(join(device, "idProduct"), `${product}\n`);
  if (serial !== undefined) writeFileSync(join(device, "serial"), `${serial}\n`);
  mkdirSync(join(root.path, "sys/bus/usb/devices"), { recursive: true });
  symlinkSync(device, join(root.path, "sys/bus/usb/devices", address));
  if (port === undefined) return;
  const own = join(device, `${address}:1.0`, "tty", port);
  mkdirSync(own, { recursive: true });
  symlinkSync(join(device, `${address}:1.0`), join(own, "device"));
  mkdirSync(join(root.path, "sys/class/tty"), { recursive: true });
  symlinkSync(own, join(root.path, "sys/class/tty", port));
}

function unplug(address: string, port?: string): void {
  rmSync(join(root.path, "sys/bus/usb/devices", address));
  if (port !== undefined) rmSync(join(root.path, "sys/class/tty", port));
  rmSync(join(root.path, "sys/devices/usb1", address), { recursive: true });
}

const PICO = "2e8a:0005";

test("an alias goes with the serial number, whatever port and socket the board has, and over a restart", async () => {
  const state = memorySecrets();
  plug("1-1", { id: PICO, serial: "A", port: "ttyACM0" });
  plug("1-2", { id: PICO, serial: "B", port: "ttyACM1" });
  plug("1-3", { id: "1234:5678", port: "ttyUSB0" });
  plug("1-4", { id: "2b76:0001" });
  const aliases = (registry: Awaited<ReturnType<typeof registryOf>>) =>
    registry.list().map(({ alias, path, transport }) => `${alias} ${path ?? transport}`);
  {
    await using registry = await registryOf({ root: root.path, state });
    expect(aliases(registry)).toEqual([
      "pico0 /dev/ttyACM0",
      "pico1 /dev/ttyACM1",
      "device0 /dev/ttyUSB0",
      "aardvark0 usb",
    ]);
    unplug("1-1", "ttyACM0");
    expect(await registry.scan()).toEqual({ added: [], removed: ["pico0"] });
    expect(registry.list().map(({ alias }) => alias)).toEqual(["pico1", "device0", "aardvark0"]);
  }
  unplug("1-2", "ttyACM1");
  plug("1-9", { id: PICO, serial: "B", port: "ttyACM0" });
  plug("1-7", { id: PICO, serial: "A", port: "ttyACM5" });
  await using registry = await registryOf({ root: root.path, state });
  expect(aliases(registry).filter((line) => line.startsWith("pico"))).toEqual([
    "pico0 /dev/ttyACM5",
    "pico1 /dev/ttyACM0",
  ]);
});

test("boards that tell no serial number, or all the same, are told apart", async () => {
  plug("1-1", { id: "1a86:7523", port: "ttyUSB0" });
  plug("1-2", { id: "1a86:7523", port: "ttyUSB1" });
  plug("1-3", { id: PICO, serial: "0", port: "ttyACM0" });
  plug("1-4", { id: PICO, serial: "0", port: "ttyACM1" });
  await using registry = await registryOf({ root: root.path });
  expect(registry.list().map(({ alias }) => alias)).toEqual(["esp0", "esp1", "pico0", "pico1"]);
});

test("a device with another serial number each time gets an alias, and the database stays small", async () => {
  const state = memorySecrets();
  for (let row = 0; row < 990; row += 1) await state.set(`alias:usb:${row}`, `pico${row}`);
  await using registry = await registryOf({ root: root.path, state });
  for (let round = 0; round < 20; round += 1) {
    plug("1-1", { id: PICO, serial: `s${round}`, port: "ttyACM0" });
    await registry.scan();
    expect(registry.list()).toMatchObject([{ isConnected: true }]);
    unplug("1-1", "ttyACM0");
  }
  expect(await state.list()).toHaveLength(1000);
});

test("a change is an event, new tools for others, and a line for the model; no change is nothing", async () => {
  const clock = fakeClock();
  let refreshed = 0;
  const context = fakeFeatureContext({} as unknown, { clock, refresh: () => void (refreshed += 1) });
  const hardware = { enabled: true, firmware_dir: "hardware/firmware" };
  const { promptContext, register, run, shutdown, tools } = boardsFeature(context, {
    hardware,
    boards: [],
    root: root.path,
  });
  const stop = new AbortController();
  await register!(stop.signal);
  expect(promptContext!()).toBe("");
  const running = run!(stop.signal);
  await clock.advance(5000);
  expect([context.published, refreshed]).toEqual([[], 0]);
  plug("1-1", { id: PICO, serial: "A", port: "ttyACM0" });
  for (let tries = 0; context.published.length === 0; tries += 1) {
    expect(tries).toBeLessThan(1000);
    await clock.advance(5000);
  }
  expect(context.published).toEqual([{ type: "hardware-changed", added: ["pico0"], removed: [], connected: 1 }]);
  expect(refreshed).toBe(1);
  expect(promptContext!()).toBe("Connected devices:\npico0: raspberry-pi-pico (RP2040 or RP2350), connected");
  // A tool that is asked for a board looks for it, before the next scan is due.
  unplug("1-1", "ttyACM0");
  const read = tools!.find(({ name }) => name === "gpio_read")!;
  await expect(read.run({ device: "pico9", pin: 1 }, fakeToolContext())).rejects.toMatchObject({
    code: "BOARD_UNKNOWN",
  });
  expect(context.published.slice(1)).toEqual([
    { type: "hardware-changed", added: [], removed: ["pico0"], connected: 0 },
  ]);
  expect(refreshed).toBe(2);
  stop.abort(new Error("the test ends it"));
  await running;
  await shutdown!();
});
