/**
 * The adapter's library, `aardvark.so` or `aardvark.dll`; only Total Phase may distribute it. Its functions begin with `c_aa_`.
 * They block, so each runs in a separate thread.
 */
import { SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";
import { stat } from "node:fs/promises";
import { join } from "node:path";

const NAME = process.platform === "win32" ? "aardvark.dll" : "aardvark.so";
const FOLDERS =
  process.platform === "win32" ? ["C:\\Program Files\\Total Phase"] : ["/usr/local/lib", "/usr/lib", "/opt/totalphase"];
const MOST_ADAPTERS = 16;
const FIND_MS = 5000;

/** `configured`: `hardware.aardvark_library`. Throws TOOL_FAILED, with the places that were looked at. */
export async function findLibrary(configured: string | undefined, homeFolder: string): Promise<string> {
  const places =
    configured === undefined
      ? [join(homeFolder, "hardware"), ...FOLDERS].map((folder) => join(folder, NAME))
      : [configured];
  for (const place of places) {
    // A FIFO or a device would hold up the loader.
    const found = await stat(place).catch(() => undefined);
    if (found?.isFile()) return place;
  }
  throw new SvcError("TOOL_FAILED", `The Aardvark library ${NAME} is not at ${places.join(", ")}.`, {
    hint: "Download the Aardvark Software API of Total Phase, and set aardvark_library in [hardware] to the path of its library.",
  });
}

type Koffi = typeof import("koffi").default;
type Library = ReturnType<Koffi["load"]>;
type Native = ReturnType<Library["func"]>;

const DECLARATIONS = {
  findDevices: "int c_aa_find_devices(int count, _Out_ uint16_t *devices)",
  open: "int c_aa_open(int port)",
  close: "int c_aa_close(int handle)",
  configure: "int c_aa_configure(int handle, int config)",
  i2cBitrate: "int c_aa_i2c_bitrate(int handle, int khz)",
  i2cTimeout: "int c_aa_i2c_bus_timeout(int handle, uint16_t ms)",
  i2cRead:
    "int c_aa_i2c_read_ext(int handle, uint16_t address, int flags, uint16_t count, _Out_ uint8_t *bytes, _Out_ uint16_t *done)",
  i2cWrite:
    "int c_aa_i2c_write_ext(int handle, uint16_t address, int flags, uint16_t count, uint8_t *bytes, _Out_ uint16_t *done)",
  i2cFreeBus: "int c_aa_i2c_free_bus(int handle)",
  spiBitrate: "int c_aa_spi_bitrate(int handle, int khz)",
  spiConfigure: "int c_aa_spi_configure(int handle, int polarity, int phase, int bitorder)",
  spiWrite: "int c_aa_spi_write(int handle, uint16_t count, uint8_t *out, uint16_t room, _Out_ uint8_t *in)",
  gpioDirection: "int c_aa_gpio_direction(int handle, uint8_t mask)",
  gpioSet: "int c_aa_gpio_set(int handle, uint8_t value)",
  gpioGet: "int c_aa_gpio_get(int handle)",
} as const;

export type FunctionName = keyof typeof DECLARATIONS;
type Argument = number | Uint8Array | Uint16Array;

export class VendorLibrary {
  readonly #functions: ReadonlyMap<FunctionName, Native>;

  private constructor(functions: ReadonlyMap<FunctionName, Native>) {
    this.#functions = functions;
  }

  /** Throws TOOL_FAILED for a file that is no such library, or one for another kind of processor. */
  static async open(file: string): Promise<VendorLibrary> {
    const { default: koffi } = await import("koffi");
    try {
      const library = koffi.load(file);
      const names = Object.keys(DECLARATIONS) as FunctionName[];
      return new VendorLibrary(new Map(names.map((name) => [name, library.func(DECLARATIONS[name])])));
    } catch {
      throw new SvcError(
        "TOOL_FAILED",
        `${file} is not an Aardvark library for ${process.platform} on ${process.arch}.`,
        {
          hint: "Take the library of the Aardvark Software API that is made for this system, version 5.10 or newer.",
        },
      );
    }
  }

  /** What the function returns, below 0 for an error. */
  call(name: FunctionName, ...args: readonly Argument[]): Promise<number> {
    const native = this.#functions.get(name)!;
    return new Promise((resolve, reject) => {
      native.async(...args, (error: unknown, result: number) => (error ? reject(error as Error) : resolve(result)));
    });
  }

  /** Adapters that are plugged in, in use or not. Throws TOOL_FAILED. */
  async countAdapters(signal: AbortSignal): Promise<number> {
    const devices = new Uint16Array(MOST_ADAPTERS);
    const limited = AbortSignal.any([signal, AbortSignal.timeout(FIND_MS)]);
    const count = await unlessAborted(this.call("findDevices", MOST_ADAPTERS, devices), limited);
    if (count < 0) throw statusError(count);
    return Math.min(count, MOST_ADAPTERS);
  }
}

/** `AardvarkStatus` of the library's header. */
const STATUS: Readonly<Record<number, string>> = {
  [-1]: "the library can't be loaded",
  [-2]: "its USB driver is missing",
  [-3]: "the library lacks a function",
  [-4]: "the library is of another version",
  [-5]: "the adapter's firmware is too old",
  [-6]: "the adapter does not answer; it may be unplugged",
  [-7]: "the adapter can't be opened; another program may use it",
  [-8]: "the adapter can't be closed",
  [-9]: "the adapter was closed",
  [-10]: "the adapter can't be set up like this",
  [-100]: "the adapter has no I2C",
  [-101]: "I2C is off",
  [-102]: "reading failed",
  [-103]: "writing failed",
  [-200]: "the adapter has no SPI",
  [-201]: "SPI is off",
  [-202]: "writing failed",
  [-400]: "the adapter has no GPIO",
};

export const statusError = (status: number): SvcError =>
  new SvcError("TOOL_FAILED", `The Aardvark failed: ${STATUS[status] ?? "unknown reason"} (${status}).`);

/** After these the handle is of no use. */
export const isLost = (status: number): boolean => status === -6 || status === -9;
