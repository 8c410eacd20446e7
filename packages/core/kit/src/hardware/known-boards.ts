/** Boards and adapters that are recognised by their USB ids, and how their aliases begin. */

export interface KnownBoard {
  /** e.g. `raspberry-pi-pico`. */
  readonly name: string;
  /** For a person; undefined for an adapter. */
  readonly architecture: string | undefined;
}

const board = (name: string, architecture?: string): KnownBoard => Object.freeze({ name, architecture });

const PICO = board("raspberry-pi-pico", "RP2040 or RP2350");
const ESP32 = board("esp32", "Xtensa or RISC-V");
const AARDVARK = board("aardvark");

/** By `vendor:product`, or by the vendor alone. ESP32 boards are known by their USB bridge, so other boards with it are taken for one. */
const BY_ID: Readonly<Record<string, KnownBoard>> = {
  "0483:374b": board("nucleo-f401re", "ARM Cortex-M4"),
  "0483:3748": board("nucleo-f411re", "ARM Cortex-M4"),
  "2341:0043": board("arduino-uno", "AVR ATmega328P"),
  "2341:0042": board("arduino-mega", "AVR ATmega2560"),
  "2341:0078": board("arduino-uno-q", "STM32U585 and Linux"),
  "2e8a": PICO,
  "10c4:ea60": ESP32,
  "10c4:ea70": ESP32,
  "1a86:7523": ESP32,
  "1a86:55d4": ESP32,
  "2b76": AARDVARK,
  "0403:e0d0": AARDVARK,
  "0d28:0204": board("microbit", "ARM Cortex-M0 or M4"),
};

/** Undefined: not known. */
export const boardOfUsb = (vendorId: number, productId: number): KnownBoard | undefined =>
  BY_ID[`${hex(vendorId)}:${hex(productId)}`] ?? BY_ID[hex(vendorId)];

/** The kind of board that a vendor makes; undefined where the product decides. */
export function boardKindOfVendor(vendorId: number): string | undefined {
  const prefixes = new Set(
    Object.entries(BY_ID)
      .filter(([id]) => id.startsWith(hex(vendorId)))
      .map(([, { name }]) => KINDS[aliasPrefixOf(name)] ?? aliasPrefixOf(name)),
  );
  return prefixes.size === 1 ? [...prefixes][0] : undefined;
}

const KINDS: Readonly<Record<string, string>> = { esp: "esp32" };

/** In this order: a `raspberry-pi-pico` is a `pico`, any other `raspberry-pi` an `rpi`. */
const PREFIXES: readonly (readonly [form: RegExp, prefix: string])[] = [
  [/pico|rp2040|rp2350/, "pico"],
  [/^raspberry-pi|^rpi/, "rpi"],
  [/arduino/, "arduino"],
  [/^esp/, "esp"],
  [/nucleo|^stm32/, "nucleo"],
  [/aardvark/, "aardvark"],
  [/^micro-?bit/, "microbit"],
];

/** Aliases are this and a number: `pico0`. `device` for a board that is not known. */
export function aliasPrefixOf(boardName: string): string {
  const name = boardName.toLowerCase();
  return PREFIXES.find(([form]) => form.test(name))?.[1] ?? "device";
}

const hex = (id: number): string => id.toString(16).padStart(4, "0");
