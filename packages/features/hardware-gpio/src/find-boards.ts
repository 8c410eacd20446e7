/** Finds boards, those of the config and those that are plugged in, and gives each its alias. */
import type { FeatureContext, StateStore } from "@svc/contract";
import {
  type BoardEntry,
  NATIVE_PINS,
  type PinWatch,
  type UsbDevice,
  aliasPrefixOf,
  boardOfUsb,
} from "@svc/kit/hardware";
import { realpath } from "node:fs/promises";
import type { BoardConfig } from "./config.ts";
import { isBoardPath } from "./link/link.ts";

export interface FindBoardsDeps {
  /** Of `[[peripherals.boards]]`. */
  readonly boards: readonly BoardConfig[];
  /** Lists plugged-in devices; undefined: the feature does not look for them. */
  readonly scan: (() => Promise<readonly UsbDevice[]>) | undefined;
  readonly capabilities: FeatureContext["capabilities"];
}

export interface FoundBoard extends Identity {
  readonly entry: Omit<BoardEntry, "alias">;
  /** Of the config. */
  readonly baud: number | undefined;
}

/** Configured boards first; a device that is one of them is not listed again. */
export async function findBoards({ boards, scan, capabilities }: FindBoardsDeps): Promise<readonly FoundBoard[]> {
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

// Aliases of boards: a prefix and a number, the same for a board over reconnects and restarts.

/** Rows that are kept: a device that makes up a serial number at each connection must not fill the database. */
const MOST_KEPT = 1000;
const NAME = "alias:";

/** Keys that identify a board, the most certain first. */
interface Identity {
  readonly board: string;
  readonly keys: readonly string[];
}

export class Aliases {
  readonly #state: StateStore;
  readonly #byKey = new Map<string, string>();
  #isRead = false;

  constructor(state: StateStore) {
    this.#state = state;
  }

  /** The aliases of these boards, which are all there are now, in their order. Rejects with STORE_*. */
  async of(boards: readonly Identity[]): Promise<readonly string[]> {
    await this.#read();
    const taken = new Set<string>();
    const known = boards.map(({ board, keys }) => {
      const prefix = aliasPrefixOf(board);
      const alias = keys
        .map((key) => this.#byKey.get(key))
        .find((alias) => alias !== undefined && isOf(alias, prefix) && !taken.has(alias));
      if (alias !== undefined) taken.add(alias);
      return alias;
    });
    const given: string[] = [];
    for (const [index, { board, keys }] of boards.entries()) {
      const alias = known[index] ?? this.#next(aliasPrefixOf(board), taken);
      taken.add(alias);
      given.push(alias);
      await this.#keep(alias, keys);
    }
    return given;
  }

  #next(prefix: string, taken: ReadonlySet<string>): string {
    const used = new Set([...this.#byKey.values(), ...taken]);
    let number = 0;
    while (used.has(`${prefix}${number}`)) number += 1;
    return `${prefix}${number}`;
  }

  async #keep(alias: string, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      if (this.#byKey.get(key) === alias || (this.#byKey.size >= MOST_KEPT && !this.#byKey.has(key))) continue;
      this.#byKey.set(key, alias);
      await this.#state.set(NAME + key, alias);
    }
  }

  async #read(): Promise<void> {
    if (this.#isRead) return;
    for (const name of await this.#state.list(NAME)) {
      const alias = await this.#state.get(name);
      if (alias !== undefined) this.#byKey.set(name.slice(NAME.length), alias);
    }
    this.#isRead = true;
  }
}

const isOf = (alias: string, prefix: string): boolean =>
  alias.startsWith(prefix) && /^\d+$/.test(alias.slice(prefix.length));
