/** Routes for the page and the command line. */
import { type Clock, type Json, type Route, SvcError } from "@svc/contract";
import * as v from "valibot";
import type { CallLog } from "./tools.ts";
import { type FlashDeps, flashPico } from "./pico-flash.ts";
import type { BoardRegistry, ShownBoard } from "./registry.ts";
import { BoardConnection } from "./connection.ts";
import { isBoardPath } from "./link/link.ts";

export const BOARDS_PATH = "/api/hardware/boards";
export const INTROSPECT_PATH = "/api/hardware/introspect";
export const FLASH_PATH = "/api/hardware/flash";

const BOARD = v.object({
  alias: v.string(),
  board: v.string(),
  architecture: v.nullable(v.string()),
  transport: v.picklist(["serial", "bridge", "native", "usb"]),
  path: v.nullable(v.string()),
  usb: v.nullable(v.object({ vendor_id: v.string(), product_id: v.string(), serial: v.nullable(v.string()) })),
  connected: v.boolean(),
  configured: v.boolean(),
  busy: v.boolean(),
  protocol: v.nullable(v.picklist(["micropython", "firmata", "json"])),
  readings: v.array(
    v.object({
      pin: v.number(),
      value: v.pipe(v.number(), v.description("0 or 1; of an analog pin in the scale of its converter.")),
      analog: v.boolean(),
      by: v.picklist(["read", "written"]),
      at: v.pipe(v.string(), v.description("ISO 8601.")),
    }),
  ),
});
export type BoardJson = v.InferOutput<typeof BOARD>;

const FOUND = v.object({
  device: v.nullable(v.string()),
  path: v.nullable(v.string()),
  protocol: v.picklist(["micropython", "firmata", "json"]),
  about: v.unknown(),
});
export interface Introspected {
  readonly device: string | null;
  readonly path: string | null;
  readonly protocol: string;
  readonly about: Json;
}

const INTROSPECT = v.strictObject({
  target: v.pipe(v.string(), v.maxLength(200), v.description("Alias of a board, or path of a serial port.")),
});
const FLASH = v.strictObject({
  device: v.string(),
  firmware: v.optional(v.pipe(v.string(), v.maxLength(125))),
});

const BOARD_ERRORS = Object.freeze([
  "BOARD_UNKNOWN",
  "BOARD_REFUSED",
  "BOARD_BUSY",
  "BOARD_LOST",
  "BOARD_TIMEOUT",
  "BOARD_FAILED",
] as const);

const CALL = v.object({
  n: v.number(),
  device: v.string(),
  tool: v.string(),
  call: v.string(),
  at: v.pipe(v.string(), v.description("ISO 8601.")),
  state: v.picklist(["running", "done", "failed"]),
  code: v.pipe(v.nullable(v.string()), v.description("Why it failed.")),
});

interface RouteDeps {
  readonly registry: BoardRegistry;
  readonly flash: FlashDeps;
  readonly calls: CallLog;
}

export const routesOf = ({ registry, flash, calls }: RouteDeps): Route[] => [
  {
    method: "GET",
    path: BOARDS_PATH,
    doc: {
      summary:
        "Lists boards that are connected or configured, with what was last read from their pins, and the last calls.",
      answers: {
        200: {
          description: "Boards by alias; calls of tools since the start, the newest first.",
          body: v.object({ boards: v.array(BOARD), calls: v.array(CALL) }),
        },
      },
    },
    handle: async () => ({
      status: 200,
      body: {
        boards: registry.show().map(boardJson),
        calls: calls.list().map(({ at, code = null, ...call }) => ({ ...call, at: new Date(at).toISOString(), code })),
      },
    }),
  },
  {
    method: "POST",
    path: INTROSPECT_PATH,
    doc: {
      summary: "Asks a board for its protocol and capabilities. A board with MicroPython stops its running program.",
      body: INTROSPECT,
      answers: { 200: { description: "The board's answer, by its protocol.", body: FOUND } },
      errors: BOARD_ERRORS,
    },
    async handle({ body, signal }) {
      const { target } = body as v.InferOutput<typeof INTROSPECT>;
      await registry.scan();
      return { status: 200, body: { ...(await introspect(registry, target, flash, signal)) } };
    },
  },
  {
    method: "POST",
    path: FLASH_PATH,
    doc: {
      summary: "Flashes a firmware image from the firmware folder to a Raspberry Pi Pico. It can take two minutes.",
      body: FLASH,
      answers: {
        200: {
          description: "`device` is null where the board has not come back yet.",
          body: v.object({ firmware: v.string(), device: v.nullable(v.string()) }),
        },
      },
      errors: [...BOARD_ERRORS, "FIRMWARE_INVALID"],
    },
    async handle({ body, signal }) {
      const { device, firmware } = body as v.InferOutput<typeof FLASH>;
      const flashed = await flashPico(flash, { device, firmware, signal });
      return { status: 200, body: { firmware: flashed.firmware, device: flashed.device ?? null } };
    },
  },
];

/** A board known by its alias or path, else a port without an alias. */
async function introspect(
  registry: BoardRegistry,
  target: string,
  { clock }: FlashDeps,
  signal: AbortSignal,
): Promise<Introspected> {
  const known = registry.list().find(({ alias, path }) => alias === target || path === target);
  if (!known && !/[\\/]|^COM\d/i.test(target)) {
    throw new SvcError("BOARD_UNKNOWN", "There is no board of this alias.", {
      hint: "svc peripheral list names them.",
    });
  }
  if (!known) return await introspectPath(target, clock, signal);
  const { protocol, about } = await registry.describe(known.alias, signal);
  return { device: known.alias, path: known.path ?? null, protocol, about };
}

const boardJson = ({ usb, readings, isConnected, isConfigured, isBusy, ...board }: ShownBoard): BoardJson => ({
  alias: board.alias,
  board: board.board,
  architecture: board.architecture ?? null,
  transport: board.transport,
  path: board.path ?? null,
  usb: usb
    ? {
        vendor_id: usb.vendorId.toString(16).padStart(4, "0"),
        product_id: usb.productId.toString(16).padStart(4, "0"),
        serial: usb.serial ?? null,
      }
    : null,
  connected: isConnected,
  configured: isConfigured,
  busy: isBusy,
  protocol: board.protocol ?? null,
  readings: readings.map(({ pin, value, isAnalog, by, at }) => ({
    pin,
    value,
    analog: isAnalog,
    by,
    at: new Date(at).toISOString(),
  })),
});

// One look at a serial port that is no board's of the registry: what does it speak?

/** Rejects with BOARD_*. */
export async function introspectPath(path: string, clock: Clock, signal: AbortSignal): Promise<Introspected> {
  if (!isBoardPath(path)) {
    throw new SvcError("BOARD_REFUSED", `${path} is not the path of a serial port of a board; it was not opened.`, {
      hint: "Name it in [[peripherals.boards]] to use it all the same: svc peripheral add <board> <path>",
    });
  }
  const connection = new BoardConnection({
    what: path,
    clock,
    protocols: ["json", "firmata", "micropython"],
    speedOf: (protocol) => (protocol === "firmata" ? 57_600 : 115_200),
    open: async (baud) => (await import("./link/serial-link.ts")).openSerial({ what: path, path, baud }),
  });
  try {
    return await connection.run(signal, async (dialect, limited) => ({
      device: null,
      path,
      protocol: dialect.protocol,
      about: await dialect.describe(limited),
    }));
  } finally {
    await connection.close();
  }
}
