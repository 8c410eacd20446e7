/** Firmware for a Pico: its boot loader shows itself as a drive, and takes a UF2 file that is copied there. */
import { type Clock, SvcError } from "@svc/contract";
import { open, readFile, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { BoardRegistry } from "./registry.ts";

/** The flash of the largest Pico, with the overhead of UF2, and more than that. */
const MOST_IMAGE_BYTES = 64 * 1_048_576;
const DRIVE_MS = 60_000;
const RETURN_MS = 30_000;
const POLL_MS = 500;
const FILE_NAME = /^[A-Za-z0-9][\w.+-]{0,120}\.uf2$/i;

export interface FlashDeps {
  readonly registry: BoardRegistry;
  readonly clock: Clock;
  readonly homeFolder: string;
  /** `[hardware] firmware_dir`. */
  readonly firmwareDir: string;
  /** Of the file system; another one in tests. */
  readonly root: string;
}

export interface FlashRequest {
  readonly device: string | undefined;
  /** Name of a file in the folder; undefined: the only one. */
  readonly firmware: string | undefined;
  readonly signal: AbortSignal;
}

export interface Flashed {
  readonly firmware: string;
  readonly bootLoader: string;
  /** The board's alias once it is back; undefined: it did not come back in time. */
  readonly device: string | undefined;
}

/** Rejects with FIRMWARE_INVALID before anything is written, with BOARD_*. */
export async function flashPico(deps: FlashDeps, { device, firmware, signal }: FlashRequest): Promise<Flashed> {
  const { name, image, takers } = await readImage(deps, firmware, signal).catch(async (error: unknown) => {
    const isAnyThere = deps.registry.list().some(({ isConnected }) => isConnected) || (await drives(deps)).length > 0;
    if (isAnyThere || !(error instanceof SvcError) || error.code !== "FIRMWARE_INVALID") throw error;
    const { message, hint = "" } = error;
    throw new SvcError("FIRMWARE_INVALID", `No device found: no board is connected. ${message}`, { hint });
  });
  await enterBootLoader(deps, device, signal);
  const drive = await driveOf(deps, signal);
  if (!takers.includes(drive.bootLoader)) {
    throw new SvcError(
      "FIRMWARE_INVALID",
      `${name} is for another chip than this board (${drive.bootLoader}). Nothing was written.`,
      {
        hint: "Take the UF2 file for your board. Unplug the board and plug it in again to leave its boot loader.",
      },
    );
  }
  await copyTo(drive.folder, name, image, signal);
  return { firmware: name, bootLoader: drive.bootLoader, device: await backAgain(deps, signal) };
}

async function readImage(
  { homeFolder, firmwareDir }: FlashDeps,
  firmware: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly image: Buffer; readonly takers: readonly string[] }> {
  const folder = isAbsolute(firmwareDir) ? firmwareDir : resolve(homeFolder, firmwareDir);
  const name = firmware ?? "firmware.uf2";
  if (!FILE_NAME.test(name)) {
    throw new SvcError("TOOL_BAD_INPUT", "firmware is the name of a .uf2 file in the firmware folder, without a path.");
  }
  const file = join(folder, name);
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) {
    throw new SvcError("FIRMWARE_INVALID", `There is no firmware ${name} in ${folder}; svc brings none.`, {
      hint: `Download the UF2 file for your board from https://micropython.org/download/ and put it there as ${name}.`,
    });
  }
  if (found.size > MOST_IMAGE_BYTES)
    throw new SvcError("FIRMWARE_INVALID", `${name} is larger than any flash of a Pico.`);
  const image = await readFile(file, { signal });
  return { name, image, takers: checkUf2(image) };
}

/** MicroPython can start the boot loader by command; on other boards a person holds the button. */
async function enterBootLoader(
  { registry }: FlashDeps,
  device: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const boards = registry
    .list()
    .filter(
      ({ alias, board, isConnected }) => isConnected && (device === undefined ? /pico/.test(board) : alias === device),
    );
  for (const { alias } of boards) registry.checkWritable(alias);
  if (device !== undefined) registry.find(device);
  if (boards.length > 1) {
    throw new SvcError(
      "BOARD_UNKNOWN",
      `Several boards can be flashed; name one as device: ${boards.map(({ alias }) => alias).join(", ")}.`,
    );
  }
  const [board] = boards;
  if (board && !/pico/.test(board.board)) {
    throw new SvcError("TOOL_BAD_INPUT", `${board.alias} is no Pico; pico_flash writes UF2 files to a Pico only.`);
  }
  if (board?.transport !== "serial") return;
  await registry
    .command(board.alias, signal, async ({ code }) => {
      if (!code) return;
      await code.run("import machine\nmachine.bootloader()", { timeoutMs: 3000, maxBytes: 1024, signal });
    })
    // It leaves without an answer; firmware without a boot loader command is left with the button.
    .catch((error: unknown) => {
      if (!(error instanceof SvcError)) throw error;
    });
}

interface Drive {
  readonly folder: string;
  readonly bootLoader: string;
}

async function driveOf(deps: FlashDeps, signal: AbortSignal): Promise<Drive> {
  const { clock } = deps;
  const deadline = clock.monotonic() + DRIVE_MS;
  for (;;) {
    const [drive, ...others] = await drives(deps);
    if (others.length > 0) {
      throw new SvcError("BOARD_UNKNOWN", "Several boards wait in their boot loaders; leave one of them plugged in.");
    }
    if (drive) return drive;
    if (clock.monotonic() >= deadline) {
      throw new SvcError(
        "BOARD_TIMEOUT",
        `No drive of a boot loader (${knownBootLoaders.join(" or ")}) was mounted within ${DRIVE_MS / 1000} s.`,
        {
          hint: "Hold BOOTSEL while you plug the board in. On a machine that mounts no drives by itself, mount it.",
        },
      );
    }
    await clock.sleep(POLL_MS, signal);
  }
}

/** A mounted drive is that of a boot loader when its INFO_UF2.TXT says so. */
async function drives({ root }: FlashDeps): Promise<readonly Drive[]> {
  const mounts = await readFile(join(root, "proc/mounts"), "utf8").catch(() => "");
  const folders = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , type]) => type === "vfat" || type === "msdos")
    // Blanks and backslashes of a path are written as octal numbers.
    .map(([, path = ""]) =>
      path.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
    );
  const found = await Promise.all(
    folders.map(async (path) => {
      const folder = join(root, path);
      const info = await readFile(join(folder, "INFO_UF2.TXT"), "utf8").catch(() => "");
      const bootLoader = /^Board-ID: *(\S+)\s*$/m.exec(info.slice(0, 4096))?.[1];
      return bootLoader !== undefined && knownBootLoaders.includes(bootLoader) ? [{ folder, bootLoader }] : [];
    }),
  );
  return found.flat();
}

/** The board restarts with the last block, and its drive is gone: a failure to close or to sync afterwards is none. */
async function copyTo(folder: string, name: string, image: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let written = 0;
  try {
    const file = await open(join(folder, name), "w");
    try {
      while (written < image.length) {
        const { bytesWritten } = await file.write(image, written);
        written += bytesWritten;
      }
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (written >= image.length) return;
    const { code = "failed" } = error as NodeJS.ErrnoException;
    throw new SvcError(
      "BOARD_LOST",
      `The firmware was written only in part (${code}); the board stays in its boot loader.`,
      {
        hint: "Unplug the board, hold BOOTSEL while you plug it in, and flash it again.",
      },
    );
  }
}

async function backAgain({ registry, clock }: FlashDeps, signal: AbortSignal): Promise<string | undefined> {
  const deadline = clock.monotonic() + RETURN_MS;
  for (;;) {
    await registry.scan();
    const board = registry
      .list()
      .find(({ board, transport, isConnected }) => /pico/.test(board) && transport === "serial" && isConnected);
    if (board) return board.alias;
    if (clock.monotonic() >= deadline) return undefined;
    await clock.sleep(POLL_MS, signal);
  }
}

/** UF2 firmware images: https://github.com/microsoft/uf2. What does not fit is refused before a byte of it is written. */
const BLOCK_BYTES = 512;
const MAGIC_START_0 = 0x0a324655;
const MAGIC_START_1 = 0x9e5d5157;
const MAGIC_END = 0x0ab16f30;
const MOST_PAYLOAD_BYTES = 476;
const HAS_FAMILY = 0x2000;
/** Blocks that go to no flash of the program: they come first in images for the RP2350 (erratum RP2350-E10). */
const ABSOLUTE = 0xe48bff57;

/** Families of pico-sdk's uf2.h, by the boot loader's Board-ID. */
const FAMILIES: Readonly<Record<string, readonly number[]>> = {
  "RPI-RP2": [0xe48bff56],
  RP2350: [0xe48bff59, 0xe48bff5a, 0xe48bff5b],
};

const knownBootLoaders: readonly string[] = Object.keys(FAMILIES);

/** By its first four bytes. */
export const looksLikeUf2 = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE(0) === MAGIC_START_0;

/** By the marks at its beginning and its end. */
export const isUf2Block = (block: Buffer): boolean =>
  block.length === BLOCK_BYTES &&
  looksLikeUf2(block) &&
  block.readUInt32LE(4) === MAGIC_START_1 &&
  block.readUInt32LE(508) === MAGIC_END;

/**
 * The boot loaders that take this image.
 * @throws SvcError FIRMWARE_INVALID, with the error and its position.
 */
export function checkUf2(image: Buffer): readonly string[] {
  if (image.length === 0 || image.length % BLOCK_BYTES !== 0 || !looksLikeUf2(image)) {
    throw invalid("it is not a UF2 file, or not a whole one");
  }
  const families = new Set<number>();
  let expected = 0;
  let total: number | undefined;
  for (let at = 0; at < image.length; at += BLOCK_BYTES) {
    const block = image.subarray(at, at + BLOCK_BYTES);
    const number = at / BLOCK_BYTES;
    if (!isUf2Block(block)) throw invalid(`block ${number} has not the marks of UF2`);
    if (block.readUInt32LE(16) > MOST_PAYLOAD_BYTES) throw invalid(`block ${number} claims to hold too many bytes`);
    if ((block.readUInt32LE(8) & HAS_FAMILY) === 0) throw invalid(`block ${number} does not say for which chip it is`);
    const family = block.readUInt32LE(28);
    if (family === ABSOLUTE) continue;
    families.add(family);
    total ??= block.readUInt32LE(24);
    if (block.readUInt32LE(20) !== expected || block.readUInt32LE(24) !== total) {
      throw invalid(`block ${number} is out of order, or blocks are missing`);
    }
    expected += 1;
  }
  if (families.size === 0 || expected !== total) throw invalid("blocks are missing");
  const takers = knownBootLoaders.filter((id) => [...families].every((family) => FAMILIES[id]!.includes(family)));
  if (takers.length > 0) return takers;
  const ids = [...families].map((family) => `0x${family.toString(16).padStart(8, "0")}`).join(", ");
  throw invalid(`it is for another chip (family ${ids}), not for an RP2040 or RP2350`);
}

const invalid = (why: string): SvcError =>
  new SvcError("FIRMWARE_INVALID", `The firmware can't be used: ${why}. Nothing was written.`, {
    hint: "Take the UF2 file for your board from https://micropython.org/download/.",
  });
