/** USB devices of this machine and their serial ports, as the Linux kernel lists them in /sys. No port is opened, no udev is needed. */
import { readFile, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

export interface UsbDevice {
  readonly vendorId: number;
  readonly productId: number;
  /** As the device tells it; many tell none, and clones all tell the same. */
  readonly serial: string | undefined;
  readonly product: string | undefined;
  /** Where it is plugged in, e.g. `1-1.2`: the same after a restart, another one in another socket. */
  readonly address: string;
  /** Its serial ports, e.g. `/dev/ttyACM0`. */
  readonly ports: readonly string[];
}

/** Characters of a text that a device tells of itself. */
const LONGEST_TEXT = 100;

/**
 * Devices that are plugged in now, by address. Empty where the kernel has no USB. One that is unplugged meanwhile is left out.
 * @param root of the file system; another one in tests.
 */
export async function scanUsb(root = "/"): Promise<readonly UsbDevice[]> {
  const folder = join(root, "sys/bus/usb/devices");
  const [names, ports] = await Promise.all([entriesOf(folder), portsOf(root)]);
  const devices = await Promise.all(
    // Interfaces have a colon, as in `1-1.2:1.0`.
    names.filter((name) => /^\d+-[\d.]+$/.test(name)).map((name) => deviceAt(join(folder, name), name, ports)),
  );
  return devices.filter((device) => device !== undefined).toSorted((a, b) => byAddress(a.address, b.address));
}

async function deviceAt(folder: string, address: string, ports: readonly SerialPort[]): Promise<UsbDevice | undefined> {
  const [path, vendorId, productId, serial, product] = await Promise.all([
    realpath(folder).catch(() => undefined),
    hexIn(join(folder, "idVendor")),
    hexIn(join(folder, "idProduct")),
    textIn(join(folder, "serial")),
    textIn(join(folder, "product")),
  ]);
  if (path === undefined || vendorId === undefined || productId === undefined) return undefined;
  const own = ports.filter((port) => ownerOf(port.devicePath) === path).map(({ path }) => path);
  return { vendorId, productId, serial, product, address, ports: own };
}

interface SerialPort {
  /** Below /dev. */
  readonly path: string;
  /** Of its device in /sys. */
  readonly devicePath: string;
}

async function portsOf(root: string): Promise<readonly SerialPort[]> {
  const folder = join(root, "sys/class/tty");
  const names = (await entriesOf(folder)).filter((name) => /^tty(?:ACM|USB)\d+$/.test(name));
  const ports = await Promise.all(
    names.map(async (name) => {
      const devicePath = await realpath(join(folder, name, "device")).catch(() => undefined);
      return devicePath === undefined ? [] : [{ path: `/dev/${name}`, devicePath }];
    }),
  );
  return ports.flat().toSorted((a, b) => byAddress(a.path, b.path));
}

/** The USB device that a port hangs on: the nearest folder above it that is one, since hubs are devices too. */
function ownerOf(devicePath: string): string | undefined {
  const names = devicePath.split(sep);
  const index = names.findLastIndex((name) => /^\d+-[\d.]+$/.test(name));
  return index < 0 ? undefined : names.slice(0, index + 1).join(sep);
}

const byAddress = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

const entriesOf = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

async function hexIn(file: string): Promise<number | undefined> {
  const text = await textIn(file);
  return text !== undefined && /^[0-9a-f]{4}$/i.test(text) ? Number.parseInt(text, 16) : undefined;
}

/** What a device says of itself reaches logs, terminals and the model: one line of printable text. */
async function textIn(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "")
    .trim()
    .slice(0, LONGEST_TEXT);
  return plain === "" ? undefined : plain.toWellFormed();
}

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
