// Tools are there while an adapter is, and what they do is what the vendor's library is told to do; a library that is missing, wrong, stuck
// or full of errors costs one call.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import definition from "../src/index.ts";
import { startFeature, writeUsb } from "./feature.ts";
import { compileLibrary, missingCompiler } from "./library.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: { i2c_buses: ["/dev/i2c-1"] } });

const home = temporaryHome();
afterAll(() => home.remove());
const root = (name: string, ...devices: Parameters<typeof writeUsb>[1][]): string => {
  const path = join(home.path, name);
  mkdirSync(path, { recursive: true });
  writeUsb(path, ...devices);
  return path;
};
const ALL = ["i2c_scan", "i2c_read", "i2c_write", "spi_transfer", "gpio_aardvark"];

describe("tools are", () => {
  test.each([
    ["none where nothing is plugged in", [], {}, []],
    ["none for another device", [{ id: "0403:6001" }], {}, []],
    ["all for an Aardvark", [{ id: "0403:e0d0" }], {}, ALL],
    ["all for one of the vendor's newer ones", [{ id: "2b76:0002" }], {}, ALL],
    ["those of I2C for a bus of this computer", [], { i2c_buses: ["/dev/i2c-1"] }, ALL.slice(0, 3)],
  ])("%s", async (name, devices, config, expected) => {
    const feature = await startFeature({ root: root(name, ...devices), config });
    expect(feature.names).toEqual(expected);
    await feature.shutdown();
  });

  test("told apart by name where there are several", async () => {
    const path = root("several", { id: "0403:e0d0" }, { id: "0403:e0d0" });
    const feature = await startFeature({ root: path, config: { i2c_buses: ["/dev/i2c-3"] } });
    const failure = await feature.call("i2c_scan", {}).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "TOOL_BAD_INPUT",
      message: expect.stringContaining("aardvark0, aardvark1, i2c-3"),
    });
    await expect(feature.call("spi_transfer", { bytes: [1], device: "i2c-3" })).rejects.toMatchObject({
      code: "TOOL_BAD_INPUT",
    });
  });
});

describe("a library that", () => {
  const plugged = () => root("plugged", { id: "0403:e0d0" });

  test("is missing is named, with the places where it may be", async () => {
    const feature = await startFeature({ root: plugged(), home: join(home.path, "home") });
    await expect(feature.call("i2c_read", { address: 0x20 })).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringMatching(/^The Aardvark library aardvark\.(so|dll) is not at .*home.hardware.aardvark/),
      hint: expect.stringContaining("aardvark_library"),
    });
  });

  test.each([
    ["is not where the config says", "/nowhere/aardvark.so"],
    ["is a folder", home.path],
    ["is a FIFO", "fifo"],
  ])("%s is named, and nothing waits for it", async (_what, place) => {
    const file = place === "fifo" ? join(home.path, "fifo") : place;
    if (place === "fifo") execFileSync("mkfifo", [file]);
    const feature = await startFeature({ root: plugged(), config: { aardvark_library: file } });
    await expect(feature.call("i2c_scan", {})).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringContaining(`is not at ${file}`),
    });
    // Without an adapter that the kernel shows the library is asked, and its fault is no reason to fail.
    const alone = await startFeature({ root: root("empty"), config: { aardvark_library: file } });
    expect(alone.names).toEqual([]);
    expect(alone.log.text()).toContain("could not ask the Aardvark library");
  });

  test("is another file is said to be none", async () => {
    const file = join(home.path, "text.so");
    writeFileSync(file, "no library");
    const feature = await startFeature({ root: plugged(), config: { aardvark_library: file } });
    await expect(feature.call("i2c_scan", {})).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringContaining(`${file} is not an Aardvark library`),
    });
  });
});

const missing = missingCompiler();
describe("the library is told", () => {
  const library = missing ? undefined! : compileLibrary();
  afterAll(() => library?.remove());
  beforeEach((context) => {
    if (missing) requireReal(context, missing);
    library.behave("");
    library.calls();
  });
  let feature: Awaited<ReturnType<typeof startFeature>>;
  const start = async (): Promise<void> => {
    feature = await startFeature({ root: root("none"), config: { aardvark_library: library.file } });
    library.calls();
  };
  afterEach(async () => feature?.shutdown());
  const OPENING = ["open 0", "configure 1 3", "i2c_bitrate 1 100", "i2c_bus_timeout 1 200"];

  test("how many adapters it has, once", async () => {
    library.behave("adapters 2");
    feature = await startFeature({ root: root("none"), config: { aardvark_library: library.file } });
    expect(library.calls()).toEqual(["find_devices 16"]);
    await expect(feature.call("i2c_scan", {})).rejects.toMatchObject({
      message: expect.stringContaining("aardvark0, aardvark1"),
    });
    library.behave("adapters 0");
    expect((await startFeature({ root: root("none"), config: { aardvark_library: library.file } })).names).toEqual([]);
  });

  test("to ask each address once, and finds the devices", async () => {
    await start();
    expect(await feature.call("i2c_scan", {})).toEqual({ device: "aardvark0", addresses: ["0x20", "0x50"] });
    const calls = library.calls();
    expect(calls.slice(0, 4)).toEqual(OPENING);
    const asked = calls.slice(4);
    expect(asked).toHaveLength(0x77 - 0x08 + 1);
    expect(asked[0]).toBe("i2c_write_ext 1 0x8 0:");
    expect(asked.at(-1)).toBe("i2c_write_ext 1 0x77 0:");
    expect(asked.filter((call) => call.startsWith("i2c_read_ext"))).toHaveLength(24);
  });

  test("a register, a repeated start and a length", async () => {
    await start();
    expect(await feature.call("i2c_read", { address: 0x50, register: 4, length: 3 })).toEqual({
      device: "aardvark0",
      address: "0x50",
      register: "0x04",
      bytes: [12, 15, 18],
    });
    expect(library.calls()).toEqual([...OPENING, "i2c_write_ext 1 0x50 4: 4", "i2c_read_ext 1 0x50 0 3"]);
    expect(await feature.call("i2c_write", { address: 0x50, register: 4, bytes: [7, 8] })).toBe(
      "2 bytes written to 0x50 register 0x04 on aardvark0",
    );
    expect(await feature.call("i2c_read", { address: 0x50, register: 4, length: 3 })).toMatchObject({
      bytes: [7, 8, 18],
    });
    expect(library.calls()).toContain("i2c_write_ext 1 0x50 0: 4 7 8");
  });

  test.each([0, 1, 2, 3])("SPI mode %i and the bytes, and gives what came back", async (mode) => {
    await start();
    expect(await feature.call("spi_transfer", { bytes: [0, 1, 255], mode, bitrate_khz: 4000 })).toEqual({
      device: "aardvark0",
      bytes: [255, 254, 0],
    });
    expect(library.calls().slice(4)).toEqual([
      `spi_configure 1 ${mode >> 1} ${mode & 1} 0`,
      "spi_bitrate 1 4000",
      "spi_write 1 3 3",
    ]);
  });

  test("which pins are GPIO, and keeps the levels of outputs", async () => {
    await start();
    library.behave("levels 8");
    expect(await feature.call("gpio_aardvark", { pin: "SCK" })).toBe("SCK is HIGH (1) on aardvark0");
    expect(await feature.call("gpio_aardvark", { pin: "SS", value: 1 })).toBe("SS set HIGH on aardvark0");
    expect(await feature.call("gpio_aardvark", { pin: "MOSI", value: 1 })).toBe("MOSI set HIGH on aardvark0");
    expect(await feature.call("gpio_aardvark", { pin: "SS" })).toBe("SS is HIGH (1) on aardvark0");
    expect(await feature.call("gpio_aardvark", { pin: "SDA" })).toBe("SDA is LOW (0) on aardvark0");
    const calls = library.calls();
    expect(calls.slice(4)).toEqual([
      "configure 1 2",
      "gpio_get 1",
      "gpio_set 1 0x20",
      "gpio_direction 1 0x20",
      "gpio_set 1 0x30",
      "gpio_direction 1 0x30",
      "configure 1 0",
      "gpio_get 1",
    ]);
    // I2C takes its pins back, and leaves those of SPI as they are.
    await feature.call("i2c_read", { address: 0x20 });
    expect(library.calls()[0]).toBe("configure 1 2");
    await feature.shutdown();
    expect(library.calls()).toEqual(
      ["i2c_bitrate 1 100", "i2c_bus_timeout 1 200", "i2c_read_ext 1 0x20 0 1", "close 1"].slice(-1),
    );
  });

  test("one thing at a time, though calls come together", async () => {
    await start();
    const reads = Array.from({ length: 8 }, (_one, register) => feature.call("i2c_read", { address: 0x20, register }));
    expect((await Promise.all(reads)).map((read) => (read as { bytes: number[] }).bytes)).toEqual(
      Array.from({ length: 8 }, (_one, register) => [register * 3]),
    );
    const pairs = library.calls().slice(4);
    expect(pairs.filter((_call, index) => index % 2 === 1).every((call) => call.startsWith("i2c_read_ext"))).toBe(true);
  });

  describe("and answers", () => {
    test.each([
      ["fail c_aa_open -7", /can't be opened; another program may use it \(-7\)/],
      ["fail c_aa_open -999", /unknown reason \(-999\)/],
      ["fail c_aa_configure -10", /can't be set up/],
      ["fail c_aa_i2c_read_ext -6", /may be unplugged \(-6\)/],
      ["status 1", /0x20: a bus error/],
      ["status 3", /0x20: nothing answers/],
      ["status 6", /pull-up/],
      ["status 99", /status 99/],
      ["short 1", /sent 1 of 2 bytes/],
    ])("%s is told", async (behaviour, message) => {
      await start();
      library.behave(behaviour);
      await expect(feature.call("i2c_read", { address: 0x20, length: 2 })).rejects.toMatchObject({
        code: "TOOL_FAILED",
        message: expect.stringMatching(message),
      });
    });

    test("that the adapter is gone: the next call opens it again, and none is repeated", async () => {
      await start();
      await feature.call("i2c_read", { address: 0x20 });
      library.calls();
      library.behave("fail c_aa_i2c_write_ext -6");
      await expect(feature.call("i2c_write", { address: 0x20, bytes: [1, 2] })).rejects.toMatchObject({
        code: "TOOL_FAILED",
      });
      expect(library.calls()).toEqual(["i2c_write_ext 1 0x20 0: 1 2"]);
      library.behave("");
      expect(await feature.call("i2c_read", { address: 0x20 })).toMatchObject({ device: "aardvark0" });
      expect(library.calls().slice(0, 4)).toEqual(OPENING);
    });

    test("nothing for 5 seconds: the call fails, others are refused, and it works when the library is back", async () => {
      await start();
      library.behave("hang c_aa_i2c_read_ext");
      const reading = feature.call("i2c_read", { address: 0x20 }).catch((error: unknown) => error);
      while (!library.calls().some((call) => call.startsWith("i2c_read_ext")))
        await new Promise((resolve) => setImmediate(resolve));
      await feature.clock.advance(5000);
      expect(await reading).toMatchObject({
        code: "TOOL_FAILED",
        message: expect.stringContaining("did not come back from i2cRead in 5 s"),
      });
      await expect(feature.call("i2c_read", { address: 0x20 })).rejects.toMatchObject({
        message: expect.stringContaining("has not come back"),
      });
      library.behave("");
      let read: unknown;
      while (read === undefined) {
        read = await feature.call("i2c_read", { address: 0x20 }).catch(() => undefined);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(read).toMatchObject({ device: "aardvark0" });
    });
  });

  test("nothing of a bus that is not there, or is no bus", async () => {
    const path = root("buses");
    mkdirSync(join(path, "dev"), { recursive: true });
    writeFileSync(join(path, "dev/i2c-4"), "");
    execFileSync("mkfifo", [join(path, "dev/i2c-5")]);
    feature = await startFeature({ root: path, config: { i2c_buses: ["/dev/i2c-3", "/dev/i2c-4", "/dev/i2c-5"] } });
    for (const device of ["i2c-3", "i2c-4", "i2c-5"]) {
      await expect(feature.call("i2c_scan", { device })).rejects.toMatchObject({
        code: "TOOL_FAILED",
        message: expect.stringMatching(/^There is no I2C bus .*i2c-\d that svc may use/),
      });
    }
    expect(readFileSync(join(path, "dev/i2c-4"), "utf8")).toBe("");
  });
});

if (!missing) {
  const conforming = compileLibrary();
  afterAll(() => conforming.remove());
  const { tools } = await startFeature({ root: root("none"), config: { aardvark_library: conforming.file } });
  const inputs: Readonly<Record<string, { input: Record<string, unknown>; badInputs: unknown[] }>> = {
    i2c_scan: { input: {}, badInputs: [{ bus: 1 }] },
    i2c_read: {
      input: { address: 0x20 },
      badInputs: [
        {},
        { address: 7 },
        { address: 0x78 },
        { address: 0x20, length: 257 },
        { address: 0x20, register: 256 },
      ],
    },
    i2c_write: {
      input: { address: 0x20, bytes: [1] },
      badInputs: [
        { address: 0x20, bytes: [] },
        { address: 0x20, bytes: [256] },
      ],
    },
    spi_transfer: {
      input: { bytes: [1] },
      badInputs: [{ bytes: [] }, { bytes: [1], mode: 4 }, { bytes: [1], bitrate_khz: 1 }],
    },
    gpio_aardvark: { input: { pin: "SS", value: 1 }, badInputs: [{ pin: "SSS" }, { pin: "SS", value: 2 }] },
  };
  for (const tool of tools) toolConformance(tool, inputs[tool.name]!);
}
