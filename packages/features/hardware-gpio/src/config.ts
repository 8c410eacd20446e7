/** The sections `[hardware]` and `[peripherals]`. */
import { integer } from "@svc/contract";
import { isAbsolute } from "node:path";
import * as v from "valibot";

const absolutePath = v.check((path: string) => isAbsolute(path), "an absolute path");

export const hardwareConfig = v.strictObject({
  enabled: v.optional(
    v.pipe(v.boolean(), v.description("Detect connected boards and give agents tools for them.")),
    true,
  ),
  firmware_dir: v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(),
      v.description("Folder of firmware images for pico_flash, absolute or below the home."),
    ),
    "hardware/firmware",
  ),
  aardvark_library: v.optional(
    v.pipe(
      v.string(),
      absolutePath,
      v.description(
        "Vendor library for Aardvark adapters, such as /opt/aardvark/aardvark.so. Default: the usual paths.",
      ),
    ),
  ),
  i2c_buses: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.regex(/^\/dev\/i2c-\d{1,3}$/, "a device such as /dev/i2c-1"))),
      v.maxLength(16),
      v.description("I2C buses of this computer for the I2C tools, such as /dev/i2c-1."),
    ),
  ),
  gdb_server: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:[\w.-]+|\[[0-9a-f:]+\]):\d{1,5}$/i, "a host and a port, such as 127.0.0.1:3333"),
      v.description(
        "GDB server of a debug probe, for the feature probe: OpenOCD, st-util or probe-rs. Default: svc starts OpenOCD, if it is " +
          "installed, for each reading.",
      ),
    ),
  ),
  openocd_script: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[^\s\p{Cc}-][^\s\p{Cc}]{0,200}$/u, "a path without blanks, such as board/st_nucleo_f4.cfg"),
      v.description(
        "OpenOCD script for the adapter and the board, used without gdb_server. Default: board/st_nucleo_f4.cfg.",
      ),
    ),
  ),
});
export type HardwareConfig = v.InferOutput<typeof hardwareConfig>;

const pin = integer(0, 255);

const watch = v.pipe(
  v.array(
    v.strictObject({
      pin: v.pipe(pin, v.description("Number of the pin, as the board numbers them.")),
      edge: v.optional(
        v.pipe(v.picklist(["rising", "falling", "both"]), v.description("Edge that counts as a signal.")),
        "both",
      ),
      debounce_ms: v.optional(
        v.pipe(integer(0, 10_000), v.description("Debounce: how long a level must last before it counts.")),
        50,
      ),
      pull: v.optional(v.pipe(v.picklist(["up", "down", "none"]), v.description("Pull resistor of the input."))),
      above: v.optional(
        v.pipe(
          integer(0, 65_535),
          v.description(
            "Reading from which the pin counts as HIGH, in units of the board's converter. Setting it makes the pin analog.",
          ),
        ),
      ),
      hysteresis: v.optional(
        v.pipe(
          integer(0, 65_535),
          v.description("Hysteresis: how far below `above` the reading must fall to count as LOW."),
        ),
        0,
      ),
      name: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^[a-z][a-z0-9_-]{0,63}$/, "a-z, then a-z 0-9 _ -"),
          v.description("Name of the signal in a trigger. Default: gpio and the number of the pin."),
        ),
      ),
    }),
  ),
  v.maxLength(64),
  v.check(
    (list) => list.every(({ above, pull }) => above === undefined || pull === undefined),
    "pull or above, not both",
  ),
  v.check((list) => list.every(({ above = 0, hysteresis }) => hysteresis <= above), "hysteresis of at most above"),
  v.check((list) => new Set(list.map(({ pin }) => pin)).size === list.length, "each pin once"),
  v.check(
    (list) => new Set(list.map(({ pin, name }) => name ?? `gpio${pin}`)).size === list.length,
    "names that differ from each other",
  ),
  v.description("Pins whose changes start procedures."),
);

/** A computer's own pins are digital. */
const isDigital = ({
  transport,
  watch: list,
}: {
  readonly transport: string;
  readonly watch: readonly { readonly above?: number | undefined }[];
}) => transport !== "native" || list.every(({ above }) => above === undefined);

const board = v.pipe(
  v.strictObject({
    board: v.pipe(
      v.string(),
      v.regex(/^[a-z][a-z0-9-]{0,63}$/, "a name such as raspberry-pi-pico: a-z, then a-z 0-9 -"),
      v.description("Board type, such as raspberry-pi-pico, arduino-uno or esp32. The alias begins with it."),
    ),
    transport: v.optional(
      v.pipe(
        v.picklist(["serial", "native", "bridge"]),
        v.description("serial: a serial port. bridge: JSON lines over TCP. native: the pins of this computer."),
      ),
      "serial",
    ),
    path: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(180),
        v.regex(/^[^\s\p{Cc}]+$/u, "a path without blanks"),
        v.description("Serial port, such as /dev/serial/by-id/usb-…, or tcp://127.0.0.1:9999 of a bridge."),
      ),
    ),
    baud: v.optional(
      v.pipe(integer(300, 4_000_000), v.description("Baud rate of the serial port. Default: the protocol's.")),
    ),
    watch: v.optional(watch, []),
  }),
  v.forward(
    v.partialCheck(
      [["transport"], ["path"]],
      ({ transport, path }) => transport !== "serial" || (path !== undefined && isSerialPath(path)),
      "the path of a serial port, such as /dev/ttyACM0",
    ),
    ["path"],
  ),
  v.forward(
    v.partialCheck(
      [["transport"], ["path"]],
      ({ transport, path }) => transport !== "bridge" || (path !== undefined && bridgeOf(path) !== undefined),
      "an address such as tcp://127.0.0.1:9999",
    ),
    ["path"],
  ),
  v.forward(
    v.partialCheck(
      [["transport"], ["path"]],
      ({ transport, path }) => transport !== "native" || path === undefined,
      "no path; native means the pins of this computer",
    ),
    ["path"],
  ),
  v.forward(
    v.partialCheck([["transport"], ["watch"]], isDigital, "no `above`: the pins of this computer are digital"),
    ["watch"],
  ),
);

export const peripheralsConfig = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), v.description("Use the boards listed here.")), true),
  boards: v.optional(
    v.pipe(
      v.array(board),
      v.maxLength(32),
      v.check((list) => isEachOnce(list.map(({ path = "native" }) => path)), "each path once, and native once"),
      v.description("Boards that svc uses, besides those that [hardware] finds."),
    ),
    [],
  ),
});
export type PeripheralsConfig = v.InferOutput<typeof peripheralsConfig>;
export type BoardConfig = PeripheralsConfig["boards"][number];

const isEachOnce = (list: readonly string[]): boolean => new Set(list).size === list.length;

const isSerialPath = (path: string): boolean => isAbsolute(path) || /^(?:\\\\\.\\)?COM\d{1,3}$/i.test(path);

/** Where a bridge listens; undefined for anything but `tcp://host:port`. */
export function bridgeOf(path: string): { readonly host: string; readonly port: number } | undefined {
  const found = /^tcp:\/\/([\w.-]+|\[[0-9a-f:.]+\]):(\d{1,5})\/?$/i.exec(path);
  const port = Number(found?.[2]);
  if (!found || port < 1 || port > 65_535) return undefined;
  return { host: found[1]!.replace(/^\[(.*)\]$/, "$1"), port };
}
