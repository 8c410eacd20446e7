// Firmware reaches a Pico only when it is whole and for its chip; everything else is refused before a byte is written.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { flashPico } from "../src/pico-flash.ts";
import { registryOf } from "./registry.ts";
import { uf2 } from "./uf2-image.ts";

const signal = new AbortController().signal;

/** A machine on which a drive of this boot loader is mounted; undefined: none is. */
function machine(bootLoader: string | undefined) {
  const home = temporaryHome();
  const drive = join(home.path, "media/a drive");
  mkdirSync(drive, { recursive: true });
  mkdirSync(join(home.path, "proc"));
  mkdirSync(join(home.path, "firmware"));
  const mount = bootLoader === undefined ? "" : "/dev/sdz1 /media/a\\040drive vfat rw 0 0\n";
  writeFileSync(join(home.path, "proc/mounts"), `proc /proc proc rw 0 0\n${mount}`);
  if (bootLoader !== undefined) {
    writeFileSync(
      join(drive, "INFO_UF2.TXT"),
      `UF2 Bootloader v3.0\r\nModel: Raspberry Pi\r\nBoard-ID: ${bootLoader}\r\n`,
    );
  }
  return {
    home: home.path,
    written: join(drive, "firmware.uf2"),
    put: (image: Uint8Array, name = "firmware.uf2") => writeFileSync(join(home.path, "firmware", name), image),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

/** Time passes until it ends. */
async function passing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = { hasEnded: false };
  const ended = work.finally(() => (state.hasEnded = true));
  ended.catch(() => undefined);
  while (!state.hasEnded) await clock.advance(500);
  return await ended;
}

async function flash(home: string, firmware?: string) {
  const clock = fakeClock();
  await using registry = await registryOf({ clock });
  const deps = { registry, clock, homeFolder: home, firmwareDir: "firmware", root: home };
  return await passing(clock, flashPico(deps, { device: undefined, firmware, signal }));
}

test("an image for the board is copied as it is", async () => {
  using pc = machine("RPI-RP2");
  const image = uf2({ blocks: 3 });
  pc.put(image);
  expect(await flash(pc.home)).toEqual({ firmware: "firmware.uf2", bootLoader: "RPI-RP2", device: undefined });
  expect(readFileSync(pc.written).equals(image)).toBe(true);
});

test.each([
  ["for the other chip", "RP2350", uf2({ blocks: 3 }), "for another chip than this board (RP2350)"],
  ["for an ESP32", "RPI-RP2", uf2({ blocks: 1, family: 0x1c5f21b0 }), "for another chip (family 0x1c5f21b0)"],
  ["that is cut", "RPI-RP2", uf2({ blocks: 3 }).subarray(0, 1024), "blocks are missing"],
])("an image %s is refused, and nothing is written", async (_, bootLoader, image, message) => {
  using pc = machine(bootLoader);
  pc.put(image);
  const flashed = flash(pc.home);
  await expect(flashed).rejects.toMatchObject({ code: "FIRMWARE_INVALID" });
  await expect(flashed).rejects.toThrow(message);
  expect(existsSync(pc.written)).toBe(false);
});

test.each(["../firmware.uf2", "/etc/passwd", "a.bin", ".uf2"])("the name %s is refused", async (name) => {
  using pc = machine("RPI-RP2");
  await expect(flash(pc.home, name)).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
});

test("without firmware the error says where to get it", async () => {
  using pc = machine("RPI-RP2");
  await expect(flash(pc.home)).rejects.toMatchObject({
    code: "FIRMWARE_INVALID",
    hint: expect.stringContaining("https://micropython.org/download/") as unknown,
  });
});

test("a drive that is never mounted is given up after a minute", async () => {
  using pc = machine(undefined);
  pc.put(uf2({ blocks: 1 }));
  await expect(flash(pc.home)).rejects.toMatchObject({ code: "BOARD_TIMEOUT" });
});
