/** The feature: which adapters and buses there are, and the tools for them. */
import {
  type Contributions,
  type FeatureContext,
  type FeatureModule,
  type Json,
  SvcError,
  type Tool,
  defineTool,
  integer,
} from "@svc/contract";
import { boardOfUsb, scanUsb } from "@svc/kit/hardware";
import { Aardvark, PINS, type PinName } from "./aardvark.ts";
import { FIRST_ADDRESS, type I2cBus, LAST_ADDRESS, hexByte } from "./i2c-bus.ts";
import { LinuxI2c } from "./linux-i2c.ts";
import { findLibrary } from "./vendor-library.ts";
import * as v from "valibot";

/** The keys of `[hardware]` that it reads. */
interface Config {
  readonly aardvark_library?: string;
  readonly i2c_buses?: readonly string[];
}

/** What a survey tells. */
interface Found {
  /** Adapters that are plugged in. */
  readonly adapters: number;
}

/** `root`: of the file system, another one in tests. */
export const aardvarkOf = (root: string): Required<FeatureModule> => ({
  async survey({ config, homeFolder, log }, signal): Promise<Json> {
    const { aardvark_library: file } = config as Config;
    const usb = (await scanUsb(root)).filter(
      ({ vendorId, productId }) => boardOfUsb(vendorId, productId)?.name === "aardvark",
    );
    if (usb.length > 0 || file === undefined) return { adapters: usb.length };
    // A library that is named may know adapters that the kernel does not show here, as in a container.
    try {
      const { VendorLibrary } = await import("./vendor-library.ts");
      const library = await VendorLibrary.open(await findLibrary(file, homeFolder));
      return { adapters: await library.countAdapters(signal) };
    } catch (error) {
      log.warn("could not ask the Aardvark library for adapters", { reason: (error as Error).message });
      return { adapters: 0 };
    }
  },
  create: (context) => contributionsOf(root, context as FeatureContext<Config>),
});

export const { survey, create } = aardvarkOf("/");

function contributionsOf(root: string, { config, survey, clock, homeFolder }: FeatureContext<Config>): Contributions {
  const { adapters } = (survey ?? { adapters: 0 }) as unknown as Found;
  const buses = config.i2c_buses ?? [];
  if (adapters === 0 && buses.length === 0) return {};
  const aardvarks = Array.from(
    { length: adapters },
    (_one, port) => new Aardvark({ port, clock, findLibrary: () => findLibrary(config.aardvark_library, homeFolder) }),
  );
  const linux = buses.map((bus): I2cBus => new LinuxI2c(root, bus));
  return {
    tools: toolsOf({ aardvarks, buses: [...aardvarks, ...linux] }),
    async shutdown() {
      for (const aardvark of aardvarks) await aardvark.close();
    },
  };
}

const MAX_I2C_BYTES = 256;
const MAX_SPI_BYTES = 1024;

interface ToolDeps {
  readonly aardvarks: readonly Aardvark[];
  readonly buses: readonly I2cBus[];
}

const device = (example: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(),
      v.maxLength(64),
      v.description(`Adapter, such as ${example}. May be left out where there is one.`),
    ),
  );
const address = v.pipe(
  integer(FIRST_ADDRESS, LAST_ADDRESS),
  v.description(`7-bit address of the device, ${FIRST_ADDRESS} (0x08) to ${LAST_ADDRESS} (0x77).`),
);
const register = v.optional(v.pipe(integer(0, 255), v.description("Register, 8 bits, that the bytes begin at.")));
const byte = integer(0, 255);

/** SPI and GPIO only where there is an Aardvark. */
function toolsOf({ aardvarks, buses }: ToolDeps): Tool[] {
  const i2c = [scan(buses), read(buses), write(buses)];
  return aardvarks.length === 0 ? i2c : [...i2c, spi(aardvarks), gpio(aardvarks)];
}

const scan = (buses: readonly I2cBus[]): Tool =>
  defineTool({
    name: "i2c_scan",
    description:
      "Lists the addresses of the devices that answer on an I2C bus. It sends each address once, which some devices take badly.",
    input: v.strictObject({ device: device("aardvark0 or i2c-1") }),
    approval: "ask",
    lasting: Object.freeze({}),
    async run({ device: name }, { signal }) {
      const bus = chosen(buses, name);
      return { device: bus.name, addresses: (await bus.scan(signal)).map(hexByte) };
    },
  });

const read = (buses: readonly I2cBus[]): Tool =>
  defineTool({
    name: "i2c_read",
    description: "Reads bytes of a device on an I2C bus, from a register where one is given.",
    input: v.strictObject({
      device: device("aardvark0 or i2c-1"),
      address,
      register,
      length: v.optional(v.pipe(integer(1, MAX_I2C_BYTES), v.description(`Bytes, at most ${MAX_I2C_BYTES}.`)), 1),
    }),
    approval: "auto",
    async run({ device: name, address: at, register: from, length }, { signal }) {
      const bus = chosen(buses, name);
      const bytes = await bus.read({ address: at, register: from, length }, signal);
      return {
        device: bus.name,
        address: hexByte(at),
        ...(from !== undefined && { register: hexByte(from) }),
        bytes: [...bytes],
      } satisfies Json;
    },
  });

const write = (buses: readonly I2cBus[]): Tool =>
  defineTool({
    name: "i2c_write",
    description: "Writes bytes to a device on an I2C bus, to a register where one is given.",
    input: v.strictObject({
      device: device("aardvark0 or i2c-1"),
      address,
      register,
      bytes: v.pipe(v.array(byte), v.minLength(1), v.maxLength(MAX_I2C_BYTES), v.description("0 to 255 each.")),
    }),
    approval: "ask",
    lasting: Object.freeze({}),
    async run({ device: name, address: at, register: to, bytes }, { signal }) {
      const bus = chosen(buses, name);
      await bus.write(at, Buffer.from(to === undefined ? bytes : [to, ...bytes]), signal);
      const where = to === undefined ? "" : ` register ${hexByte(to)}`;
      return `${bytes.length === 1 ? "1 byte" : `${bytes.length} bytes`} written to ${hexByte(at)}${where} on ${bus.name}`;
    },
  });

const spi = (aardvarks: readonly Aardvark[]): Tool =>
  defineTool({
    name: "spi_transfer",
    description: "Sends bytes over SPI through an Aardvark adapter, and gives the bytes that came in meanwhile.",
    input: v.strictObject({
      device: device("aardvark0"),
      bytes: v.pipe(v.array(byte), v.minLength(1), v.maxLength(MAX_SPI_BYTES), v.description("0 to 255 each.")),
      mode: v.optional(v.pipe(integer(0, 3), v.description("SPI mode: clock polarity and phase.")), 0),
      bitrate_khz: v.optional(v.pipe(integer(125, 8000), v.description("125 to 8000.")), 1000),
    }),
    approval: "ask",
    lasting: Object.freeze({}),
    async run({ device: name, bytes, mode, bitrate_khz: khz }, { signal }) {
      const aardvark = chosen(aardvarks, name);
      const received = await aardvark.transfer({ bytes: Buffer.from(bytes), mode, khz }, signal);
      return { device: aardvark.name, bytes: [...received] };
    },
  });

const gpio = (aardvarks: readonly Aardvark[]): Tool =>
  defineTool({
    name: "gpio_aardvark",
    description:
      "Reads a pin of an Aardvark adapter, or with value makes it an output that is HIGH (1) or LOW (0). SCL and SDA take I2C away for as " +
      "long, the others SPI.",
    input: v.strictObject({
      device: device("aardvark0"),
      pin: v.pipe(v.picklist(Object.keys(PINS) as PinName[]), v.description("Name of the pin on the adapter.")),
      value: v.optional(v.pipe(v.picklist([0, 1]), v.description("Level of the output. Without it the pin is read."))),
    }),
    approval: ({ value }) => (value === undefined ? "auto" : "ask"),
    lasting: Object.freeze({}),
    async run({ device: name, pin, value }, { signal }) {
      const aardvark = chosen(aardvarks, name);
      const level = await aardvark.pin(pin, value, signal);
      const word = level === 1 ? "HIGH" : "LOW";
      return value === undefined
        ? `${pin} is ${word} (${level}) on ${aardvark.name}`
        : `${pin} set ${word} on ${aardvark.name}`;
    },
  });

/** Throws TOOL_BAD_INPUT, with those there are. */
function chosen<T extends { readonly name: string }>(all: readonly T[], name: string | undefined): T {
  const names = all.map((one) => one.name).join(", ");
  const found = name === undefined && all.length === 1 ? all[0] : all.find((one) => one.name === name);
  if (found) return found;
  throw name === undefined
    ? new SvcError("TOOL_BAD_INPUT", `There are several adapters: ${names}. Name one as device.`)
    : new SvcError("TOOL_BAD_INPUT", `There is no adapter of this name. Adapters: ${names}.`);
}
