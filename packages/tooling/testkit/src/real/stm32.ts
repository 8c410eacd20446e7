/** An emulated STM32 with a GDB port: QEMU's board `netduinoplus2`, with firmware that is compiled for the test. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "../require-real.ts";
import { temporaryHome } from "../temporary-home.ts";
import { startDaemon } from "./daemon.ts";
import { freePorts } from "./free-ports.ts";

export interface Stm32 extends AsyncDisposable {
  /** Of the GDB server on loopback. */
  readonly port: number;
  /** What GDB itself says of memory, as bytes. */
  gdb(address: number, length: number): Buffer;
}

/** Undefined: all is there. */
export function missingStm32(): MissingPart | undefined {
  const programs = ["qemu-system-arm", "arm-none-eabi-gcc", "gdb-multiarch"];
  const absent = programs.find((program) => spawnSync(program, ["--version"]).error !== undefined);
  if (absent === undefined) return undefined;
  const reason = `${absent} is not on PATH; apt-get install qemu-system-arm gcc-arm-none-eabi gdb-multiarch`;
  return { name: "an emulated STM32", reason };
}

/** Writes two words to the start of the RAM, and counts in the third for as long as the processor runs. */
const FIRMWARE = `
void reset(void);
__attribute__((section(".vectors"))) void *const vectors[] = {(void *)0x20018000, (void *)reset};
void reset(void) {
  volatile unsigned *ram = (unsigned *)0x20000000;
  ram[0] = 0xdeadbeef;
  ram[1] = 0x12345678;
  for (;;) ram[2]++;
}
`;
const LAYOUT = "SECTIONS { . = 0x08000000; .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } }";

export async function startStm32(): Promise<Stm32> {
  const home = temporaryHome();
  const path = (name: string): string => join(home.path, name);
  writeFileSync(path("firmware.c"), FIRMWARE);
  writeFileSync(path("layout.ld"), LAYOUT);
  const target = ["-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-O1"];
  execFileSync("arm-none-eabi-gcc", [
    ...target,
    "-T",
    path("layout.ld"),
    "-o",
    path("firmware.elf"),
    path("firmware.c"),
  ]);
  const [port = 0] = await freePorts(1);
  const machine = ["-M", "netduinoplus2", "-kernel", path("firmware.elf"), "-nographic", "-monitor", "none"];
  const gdb = ["-serial", "none", "-gdb", `tcp:127.0.0.1:${port}`];
  // Not asked whether it listens by a connection: that one would stop the processor.
  const daemon = await startDaemon("qemu-system-arm", [...machine, ...gdb], { ports: [], logs: () => "" });
  return {
    port,
    gdb(address, length) {
      const file = path("dump");
      const commands = [
        `target remote 127.0.0.1:${port}`,
        `dump binary memory ${file} ${address} ${address + length}`,
        "detach",
      ];
      const options = [
        "-nx",
        "-batch",
        "-ex",
        "set architecture arm",
        ...commands.flatMap((command) => ["-ex", command]),
      ];
      execFileSync("gdb-multiarch", options, { stdio: "ignore" });
      return readFileSync(file);
    },
    async [Symbol.asyncDispose]() {
      await daemon.stop();
      home.remove();
    },
  };
}
