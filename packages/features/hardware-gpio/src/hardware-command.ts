/** `svc hardware discover | introspect <path>`. Both work without a daemon, and without `[hardware]`. */
import { type FeatureCommandContext, type Json, SvcError } from "@svc/contract";
import { aliasPrefixOf, boardOfUsb, scanUsb } from "@svc/kit/hardware";
import type { HardwareConfig } from "./config.ts";
import { BOARDS_PATH, type BoardJson, INTROSPECT_PATH, type Introspected, introspectPath } from "./routes.ts";

type Context = FeatureCommandContext<HardwareConfig>;

/** The words are those of the table of commands, which lets no other through. */
export async function run(context: Context): Promise<number> {
  return context.args[0] === "introspect" ? await introspect(context) : await discover(context);
}

async function discover(context: Context): Promise<number> {
  const known = await unlessOff(async () => {
    const { boards } = (await context.ask({ method: "GET", path: BOARDS_PATH })) as { boards: BoardJson[] };
    return boards;
  });
  const boards = known ?? (await pluggedIn());
  if (context.options.flag("json")) context.printJson({ boards, enabled: known !== undefined });
  else {
    for (const board of boards) context.print(boardLine(board));
    if (boards.length === 0) context.print("No device found: no board is connected, and none is configured.");
    if (known === undefined)
      context.print(
        "[hardware] is off; add it to the config, and agents may use boards: svc config set hardware.enabled true",
      );
  }
  return 0;
}

/** Without a database an alias is what a board would get in an empty one. */
async function pluggedIn(): Promise<readonly BoardJson[]> {
  const counts = new Map<string, number>();
  return (await scanUsb()).flatMap((device): BoardJson[] => {
    const board = boardOfUsb(device.vendorId, device.productId);
    const [path] = device.ports;
    if (!board && path === undefined) return [];
    const prefix = aliasPrefixOf(board?.name ?? "device");
    const count = counts.get(prefix) ?? 0;
    counts.set(prefix, count + 1);
    return [
      {
        alias: `${prefix}${count}`,
        board: board?.name ?? "device",
        architecture: board?.architecture ?? null,
        transport: path === undefined ? "usb" : "serial",
        path: path ?? null,
        usb: {
          vendor_id: device.vendorId.toString(16).padStart(4, "0"),
          product_id: device.productId.toString(16).padStart(4, "0"),
          serial: device.serial ?? null,
        },
        connected: true,
        configured: false,
        busy: false,
        protocol: null,
        readings: [],
      },
    ];
  });
}

async function introspect({ args, ask, clock, options, print, printJson, signal }: Context): Promise<number> {
  const target = args[1] ?? "";
  const found =
    (await unlessOff(
      async () => (await ask({ method: "POST", path: INTROSPECT_PATH, body: { target } })) as unknown as Introspected,
    )) ?? (await introspectPath(target, clock, signal));
  if (options.flag("json")) printJson(found);
  else {
    print(`${found.device ?? found.path}: ${PROTOCOLS[found.protocol] ?? found.protocol}`);
    for (const [name, value] of Object.entries((found.about ?? {}) as Record<string, Json>)) {
      print(`  ${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
    }
  }
  return 0;
}

const PROTOCOLS: Readonly<Record<string, string>> = {
  micropython: "MicroPython (raw REPL)",
  firmata: "Firmata",
  json: "JSON lines",
};

/** Undefined where neither section is on. */
async function unlessOff<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SvcError && (error.code === "NOT_CONFIGURED" || error.code === "NOT_FOUND")) return undefined;
    throw error;
  }
}

/** A board as one line at the terminal. */
export function boardLine({
  alias,
  board,
  architecture,
  path,
  usb,
  transport,
  connected,
  protocol,
}: BoardJson): string {
  const where = path ?? (transport === "native" ? "pins of this computer" : "no serial port");
  const id = usb ? `, USB ${usb.vendor_id}:${usb.product_id}` : "";
  const speaks = protocol === null ? "" : `, ${protocol}`;
  return `${alias}  ${board}${architecture === null ? "" : ` (${architecture})`}  ${where}${id}${speaks}  ${connected ? "connected" : "not connected"}`;
}
