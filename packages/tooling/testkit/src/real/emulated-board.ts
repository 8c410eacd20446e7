/**
 * Boards that QEMU emulates, each behind a pseudo-terminal as behind a serial port: a micro:bit with the MicroPython of its makers, and an
 * Arduino Uno with firmware that is built here.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "../require-real.ts";
import { temporaryHome } from "../temporary-home.ts";

const MICROBIT_FIRMWARE = "/usr/share/firmware-microbit-micropython/firmware.hex";

export interface EmulatedBoard extends AsyncDisposable {
  /** Of its serial port. */
  readonly path: string;
  /** As if the plug was pulled: the port is gone, with the board. */
  unplug(): Promise<void>;
}

/** Undefined: all is there. */
export function missingMicrobit(): MissingPart | undefined {
  const name = "an emulated micro:bit";
  if (!isProgram("qemu-system-arm")) return { name, reason: "not on PATH; apt-get install qemu-system-arm" };
  if (existsSync(MICROBIT_FIRMWARE)) return undefined;
  return { name, reason: `no ${MICROBIT_FIRMWARE}; apt-get install firmware-microbit-micropython` };
}

/** Undefined: all is there. */
export function missingUno(): MissingPart | undefined {
  const name = "an emulated Arduino Uno";
  if (!isProgram("qemu-system-avr")) return { name, reason: "not on PATH; apt-get install qemu-system-misc" };
  if (isProgram("avr-gcc") && existsSync("/usr/lib/avr/include/avr/io.h")) return undefined;
  return { name, reason: "no compiler for it; apt-get install gcc-avr avr-libc" };
}

export const startMicrobit = (): Promise<EmulatedBoard> =>
  start("qemu-system-arm", ["-M", "microbit", "-device", `loader,file=${MICROBIT_FIRMWARE}`]);

/** `firmware`: a file of the folder `firmware`, without `.c`. */
export async function startUno(firmware: "uno-firmata" | "uno-json"): Promise<EmulatedBoard> {
  const home = temporaryHome();
  const elf = buildUno(firmware, home.path);
  return await start("qemu-system-avr", ["-M", "uno", "-bios", elf], () => home[Symbol.dispose]());
}

/** Path of the program for the board, below `folder`. */
export function buildUno(firmware: string, folder: string): string {
  const elf = join(folder, "uno.elf");
  const source = join(import.meta.dirname, "firmware", `${firmware}.c`);
  const flags = ["-mmcu=atmega328p", "-DF_CPU=16000000UL", "-Os", "-Wall", "-Werror"];
  execFileSync("avr-gcc", [...flags, "-o", elf, source]);
  return elf;
}

const isProgram = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;

async function start(
  program: string,
  machine: readonly string[],
  tidyUp: () => void = () => {},
): Promise<EmulatedBoard> {
  const child = spawn(program, [...machine, "-nographic", "-monitor", "none", "-serial", "pty"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  const path = await portOf(child, program);
  let unplugged: Promise<void> | undefined;
  const unplug = (): Promise<void> =>
    (unplugged ??= new Promise((resolve) => {
      process.off("exit", end);
      tidyUp();
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      end();
    }));
  return { path, unplug, [Symbol.asyncDispose]: unplug };
}

/** QEMU prints where it put the port. */
function portOf(child: ChildProcess, program: string): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const port = /char device redirected to (\/dev\/pts\/\d+)/.exec(output)?.[1];
        if (port !== undefined) resolve(port);
      });
    }
    child.once("error", reject).once("exit", () => reject(new Error(`${program} ended: ${output}`)));
  });
}
