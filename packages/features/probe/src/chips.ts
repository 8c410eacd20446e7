/**
 * The chips that are read live. Memory: data sheets STM32F401xD/xE (DS10086) and STM32F411xC/xE (DS10314), section "Memory mapping"; ids and
 * registers: reference manuals RM0368 and RM0383, "MCU device ID code" and "Device electronic signature".
 */
import { SvcError } from "@svc/contract";

export interface Region {
  readonly name: "flash" | "RAM";
  readonly start: number;
  readonly bytes: number;
}

export interface Chip {
  /** Board that has it. */
  readonly board: string;
  readonly name: string;
  /** DEV_ID of DBGMCU_IDCODE. */
  readonly deviceId: number;
  readonly regions: readonly Region[];
}

/** DBGMCU_IDCODE: DEV_ID in bits 0 to 11, REV_ID in bits 16 to 31. */
export const IDCODE = 0xe004_2000;
/** Flash size in KiB, 16 bits. */
export const FLASH_SIZE = 0x1fff_7a22;

const flash = (kib: number): Region => ({ name: "flash", start: 0x0800_0000, bytes: kib * 1024 });
const ram = (kib: number): Region => ({ name: "RAM", start: 0x2000_0000, bytes: kib * 1024 });

const CHIPS: readonly Chip[] = [
  { board: "nucleo-f401re", name: "STM32F401RE", deviceId: 0x433, regions: [flash(512), ram(96)] },
  { board: "nucleo-f411re", name: "STM32F411RE", deviceId: 0x431, regions: [flash(512), ram(128)] },
];

export const chipById = (deviceId: number): Chip | undefined => CHIPS.find((chip) => chip.deviceId === deviceId);

/** By the name of the board, or of the chip with whatever stands for its package: `STM32F401RETx`. Throws TOOL_BAD_INPUT. */
export function chipByName(text: string): Chip {
  const name = text.trim().toLowerCase();
  const chip = CHIPS.find((one) => name === one.board || name.startsWith(one.name.toLowerCase()));
  if (chip) return chip;
  throw new SvcError("TOOL_BAD_INPUT", "This chip can't be read live.", {
    hint: `Those that can: ${CHIPS.map(({ board, name: own }) => `${own} (${board})`).join(", ")}.`,
  });
}

/** The region that holds all of these bytes. Throws TOOL_BAD_INPUT. */
export function regionOf(chip: Chip, address: number, length: number): Region {
  const region = chip.regions.find(({ start, bytes }) => address >= start && address + length <= start + bytes);
  if (region) return region;
  const ranges = chip.regions.map(({ name, start, bytes }) => `${name} ${hex(start)} to ${hex(start + bytes - 1)}`);
  throw new SvcError(
    "TOOL_BAD_INPUT",
    `These bytes are not inside the memory of the ${chip.name}: ${ranges.join(", ")}.`,
  );
}

export const hex = (value: number, digits = 8): string => `0x${value.toString(16).padStart(digits, "0")}`;

export const liveBoards = (): readonly string[] => CHIPS.map(({ board }) => board);
