/** Which boards there are now: those of the config, and those that are plugged in. */
import { type BoardEntry, boardOfUsb, NATIVE_PINS, type PinWatch, type UsbDevice } from "@svc/kit/hardware";
import { realpath } from "node:fs/promises";
import type { Identity } from "./aliases.ts";
import type { BoardConfig } from "./config.ts";
import { isBoardPath } from "./link/serial-path.ts";
import type { RegistryDeps } from "./registry.ts";

export interface FoundBoard extends Identity {
  readonly entry: Omit<BoardEntry, "alias">;
  /** Of the config. */
  readonly baud: number | undefined;
}

/** Configured boards first; a device that is one of them is not listed again. */
export async function findBoards({
  boards,
  scan,
  capabilities,
}: Pick<RegistryDeps, "boards" | "scan" | "capabilities">): Promise<readonly FoundBoard[]> {
  const devices = (await scan?.()) ?? [];
  const hasPins = capabilities(NATIVE_PINS).length > 0;
  const claimed = new Set<UsbDevice>();
  const configured: FoundBoard[] = [];
  for (const config of boards) {
    const { board, transport, path, baud } = config;
    const terminal = transport === "serial" ? await realpath(path!).catch(() => undefined) : undefined;
    const device = devices.find(({ ports }) => terminal !== undefined && ports.includes(terminal));
    if (device) claimed.add(device);
    configured.push({
      board,
      keys: [...(device ? [usbKey(device)] : []), `path:${path ?? "native"}`],
      baud,
      entry: {
        board,
        architecture: device && boardOfUsb(device.vendorId, device.productId)?.architecture,
        transport,
        path,
        usb: device && usbOf(device),
        // A bridge counts as connected: whether it is there is found out with the first command.
        isConnected: transport === "bridge" || terminal !== undefined || (transport === "native" && hasPins),
        isConfigured: true,
        watch: config.watch.map(watchOf),
      },
    });
  }
  const discovered = devices.flatMap((device): FoundBoard[] => {
    const known = boardOfUsb(device.vendorId, device.productId);
    const path = device.ports.find(isBoardPath);
    if (claimed.has(device) || (!known && path === undefined)) return [];
    const name = known?.name ?? "device";
    return [
      {
        board: name,
        keys: [usbKey(device)],
        baud: undefined,
        entry: {
          board: name,
          architecture: known?.architecture,
          transport: path === undefined ? "usb" : "serial",
          path,
          usb: usbOf(device),
          isConnected: true,
          isConfigured: false,
          watch: [],
        },
      },
    ];
  });
  return [...configured, ...discovered];
}

/** Without a serial number the USB port identifies the board. */
const usbKey = ({ vendorId, productId, serial, address }: UsbDevice): string =>
  `usb:${vendorId.toString(16)}:${productId.toString(16)}:${serial ?? `@${address}`}`;

const usbOf = ({ vendorId, productId, serial }: UsbDevice): NonNullable<BoardEntry["usb"]> => ({
  vendorId,
  productId,
  serial,
});

const watchOf = ({
  pin,
  edge,
  debounce_ms,
  name,
  pull,
  above,
  hysteresis,
}: BoardConfig["watch"][number]): PinWatch => ({
  name: name ?? `gpio${pin}`,
  pin,
  edge,
  debounceMs: debounce_ms,
  pull,
  analog: above === undefined ? undefined : { above, hysteresis },
});
