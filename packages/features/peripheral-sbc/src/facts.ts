/** What the board can say of itself now. */
import { freemem, networkInterfaces, totalmem, uptime } from "node:os";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Board } from "./board.ts";

export interface Facts {
  readonly model: string;
  /** Without loopback and link-local ones. */
  readonly addresses: readonly string[];
  readonly memoryMb: number;
  readonly freeMemoryMb: number;
  /** Undefined: the kernel does not tell. */
  readonly temperature: number | undefined;
  readonly uptimeSecs: number;
}

export async function readFacts(root: string, { model }: Board): Promise<Facts> {
  const text = await readFile(join(root, "sys/class/thermal/thermal_zone0/temp"), "utf8").catch(() => "");
  const milliDegrees = /^-?\d+$/.test(text.trim()) ? Number(text) : undefined;
  return {
    model,
    addresses: Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, address }) => !internal && !/^(?:fe80:|169\.254\.)/i.test(address))
      .map(({ address }) => address)
      .slice(0, 8),
    memoryMb: Math.round(totalmem() / 1_048_576),
    freeMemoryMb: Math.round(freemem() / 1_048_576),
    temperature: milliDegrees === undefined ? undefined : Math.round(milliDegrees / 100) / 10,
    uptimeSecs: Math.floor(uptime()),
  };
}

const RULES = `GPIO rules: pins are BCM numbers, GPIO 0 to 27 of the 40-pin header. Levels are 3.3 V; a pin gives at most 16 mA, so an LED needs a
resistor. GPIO 0 and 1 are reserved for the EEPROM of HATs, 2 and 3 are I2C with pull-ups, 14 and 15 the serial console. Read a pin
before you write to one that may be wired to an output. Ask before you switch anything that moves, heats or locks.`;

/** For the system prompt. */
export function promptText({ model, addresses, memoryMb, temperature }: Facts): string {
  const at = addresses.length === 0 ? "no network address" : addresses.join(", ");
  const degrees = temperature === undefined ? "" : `, CPU at ${temperature.toFixed(1)} °C`;
  return `This service runs on a ${model} (rpi0): ${at}, ${memoryMb} MB RAM${degrees}.\n${RULES}`;
}

/** `rpi0.md`. */
export const profileText = (board: Board, facts: Facts): string => `# rpi0

<!-- Written by svc at each start. -->

| Fact         | Value                                              |
| ------------ | -------------------------------------------------- |
| Model        | ${board.model} |
| Architecture | ${process.arch} |
| RAM          | ${facts.memoryMb} MB |
| Addresses    | ${facts.addresses.join(", ") || "none"} |
| GPIO         | controller ${board.chip}, GPIO 0 to 27 |
| ACT LED      | ${board.ledText} |

${RULES}

Tools: \`gpio_rpi_write\`, \`gpio_rpi_read\`, \`gpio_rpi_blink\`, \`rpi_system_info\`.
`;
