// The feature keeps what every feature keeps, and its sections refuse what could never work.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { hardwareConfig, peripheralsConfig } from "../src/config.ts";
import definitions from "../src/index.ts";

const BOARDS = {
  boards: [
    { board: "raspberry-pi-pico", path: "/dev/ttyACM0" },
    { board: "my-robot", transport: "bridge", path: "tcp://127.0.0.1:9" },
  ],
};
const INPUTS = {
  gpio_write: { device: "pico7", pin: 25, value: 1 },
  gpio_read: { device: "pico7", pin: 25 },
  device_exec: { device: "pico7", code: "print(1)" },
  device_read_code: { device: "pico7" },
  device_write_code: { device: "pico7", code: "print(1)" },
  pico_flash: { confirm: true },
};
const root = `${import.meta.dirname}/..`;

featureConformance(definitions, {
  root,
  configs: { hardware: { firmware_dir: "/srv/firmware" }, peripherals: BOARDS },
  inputs: INPUTS,
});

describe("[hardware]", () => {
  test.each([
    [{}],
    [{ firmware_dir: "/srv/firmware", aardvark_library: "/opt/aardvark.so", i2c_buses: ["/dev/i2c-1"] }],
    [{ gdb_server: "127.0.0.1:3333" }],
    [{ gdb_server: "[::1]:3333" }],
    [{ openocd_script: "board/st_nucleo_f4.cfg" }],
  ])("takes %j", (section) => {
    expect(v.is(hardwareConfig, section)).toBe(true);
  });

  test.each([
    [{ firmware_dir: "" }],
    [{ aardvark_library: "aardvark.so" }],
    [{ i2c_buses: ["/dev/sda"] }],
    [{ gdb_server: "127.0.0.1" }],
    [{ openocd_script: "-c" }],
    [{ openocd_script: "a b" }],
    [{ boards: [] }],
  ])("refuses %j", (section) => {
    expect(v.is(hardwareConfig, section)).toBe(false);
  });
});

describe("[[peripherals.boards]]", () => {
  const PICO = { board: "raspberry-pi-pico", path: "/dev/ttyACM0" };
  test.each([
    [PICO],
    [{ ...PICO, baud: 9600, watch: [{ pin: 5, edge: "falling", pull: "up", debounce_ms: 0, name: "button" }] }],
    [{ ...PICO, watch: [{ pin: 26, above: 600, hysteresis: 50 }] }],
    [{ board: "raspberry-pi", transport: "native" }],
    [{ board: "bridge", transport: "bridge", path: "tcp://[::1]:9999" }],
    [{ board: "esp32", path: "COM3" }],
  ])("takes %j", (board) => {
    expect(v.is(peripheralsConfig, { boards: [board] })).toBe(true);
  });

  test.each([
    [{ board: "Pico", path: "/dev/ttyACM0" }],
    [{ board: "pico" }],
    [{ board: "pico", path: "ttyACM0" }],
    [{ board: "pico", path: "/dev/tty ACM0" }],
    [{ board: "pico", path: "tcp://127.0.0.1:9999" }],
    [{ board: "pico", transport: "native", path: "/dev/ttyACM0" }],
    [{ board: "pico", transport: "bridge", path: "/dev/ttyACM0" }],
    [{ board: "pico", transport: "bridge", path: "tcp://127.0.0.1:0" }],
    [{ board: "pico", transport: "bridge", path: "tcp://u:p@127.0.0.1:9999" }],
    [{ ...PICO, baud: 1 }],
    [{ ...PICO, watch: [{ pin: 5 }, { pin: 5 }] }],
    [
      {
        ...PICO,
        watch: [
          { pin: 5, name: "a" },
          { pin: 6, name: "a" },
        ],
      },
    ],
    [{ ...PICO, watch: [{ pin: 256 }] }],
    [{ ...PICO, watch: [{ pin: 26, above: 600, pull: "up" }] }],
    [{ ...PICO, watch: [{ pin: 26, above: 600, hysteresis: 601 }] }],
    [{ ...PICO, watch: [{ pin: 26, hysteresis: 1 }] }],
    [{ board: "raspberry-pi", transport: "native", watch: [{ pin: 17, above: 1 }] }],
  ])("refuses %j", (board) => {
    expect(v.is(peripheralsConfig, { boards: [board] })).toBe(false);
  });

  test("refuses one path for two boards", () => {
    expect(v.is(peripheralsConfig, { boards: [PICO, { ...PICO, board: "esp32" }] })).toBe(false);
  });
});
