/** All boards: those that are plugged in and those of the config, with their aliases, connections and last readings. */
import { type Clock, type FeatureContext, type Json, type StateStore, SvcError } from "@svc/contract";
import {
  type BoardEntry,
  type Boards,
  type Level,
  type MotorBoards,
  type MotorCommand,
  NATIVE_PINS,
  type NativePins,
  RESERVED_BOARDS,
  type ReadPinOptions,
} from "@svc/kit/hardware";
import { Aliases, type FindBoardsDeps, findBoards } from "./find-boards.ts";
import { bridgeOf } from "./config.ts";
import { BoardConnection, type Urgency } from "./connection.ts";
import type { Dialect, Motors, Protocol } from "./dialect/dialect.ts";
import { isPublicAddress } from "@svc/kit";
import type { Link } from "./link/link.ts";

export interface RegistryDeps extends FindBoardsDeps {
  readonly clock: Clock;
  readonly state: StateStore;
  readonly resolve: FeatureContext["resolve"];
}

export interface Reading {
  readonly pin: number;
  /** For an analog pin, in the scale of its converter. */
  readonly value: number;
  readonly isAnalog: boolean;
  /** `written`: as a command set it. */
  readonly by: "read" | "written";
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What the page and the command line show of a board. */
export interface ShownBoard extends BoardEntry {
  readonly protocol: Protocol | undefined;
  readonly isBusy: boolean;
  readonly readings: readonly Reading[];
}

interface Board {
  readonly entry: BoardEntry;
  /** Target of the connection; a changed target needs a new connection. */
  readonly target: string;
  readonly connection: BoardConnection | undefined;
  readonly readings: Map<number, Reading>;
}

export interface Change {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const MOST_READINGS = 32;

export class BoardRegistry implements Boards, MotorBoards {
  readonly #deps: RegistryDeps;
  readonly #aliases: Aliases;
  readonly #listeners = new Set<(change: Change) => void>();
  #boards: ReadonlyMap<string, Board> = new Map();
  #isClosed = false;
  #scanning: Promise<Change> | undefined;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
    this.#aliases = new Aliases(deps.state);
  }

  /** Scans for boards. Concurrent callers share one scan. Rejects with STORE_*. */
  async scan(): Promise<Change> {
    this.#scanning ??= this.#scan().finally(() => (this.#scanning = undefined));
    return await this.#scanning;
  }

  list(): readonly BoardEntry[] {
    return [...this.#boards.values()].map(({ entry }) => entry);
  }

  show(): readonly ShownBoard[] {
    return [...this.#boards.values()].map(({ entry, connection, readings }) => ({
      ...entry,
      protocol: connection?.protocol,
      isBusy: connection?.isBusy ?? false,
      readings: [...readings.values()].toSorted((a, b) => b.at - a.at),
    }));
  }

  find(alias: string | undefined): BoardEntry {
    return this.#find(alias).entry;
  }

  async readPin(alias: string, pin: number, { pull, signal, isUrgent }: ReadPinOptions): Promise<Level> {
    const { entry, readings } = this.#find(alias);
    const value =
      entry.transport === "native"
        ? await this.#native().readPin(pin, { pull, signal })
        : await this.command(
            alias,
            signal,
            (dialect, limited) => dialect.readPin(pin, pull, limited),
            isUrgent ? "sensors" : "ordinary",
          );
    this.#keep(readings, { pin, value, isAnalog: false, by: "read", at: this.#deps.clock.now() });
    return value;
  }

  async writePin(alias: string, pin: number, value: Level, signal: AbortSignal): Promise<void> {
    const { entry, readings } = this.#find(alias);
    if (entry.transport === "native") await this.#native().writePin(pin, value, signal);
    else await this.command(alias, signal, (dialect, limited) => dialect.writePin(pin, value, limited));
    this.#keep(readings, { pin, value, isAnalog: false, by: "written", at: this.#deps.clock.now() });
  }

  async readAnalog(alias: string, pin: number, signal: AbortSignal): Promise<number> {
    const { entry, readings } = this.#find(alias);
    if (entry.transport === "native") {
      throw new SvcError("TOOL_BAD_INPUT", `${alias} has no analog inputs; its pins are HIGH or LOW.`);
    }
    const value = await this.command(alias, signal, (dialect, limited) => dialect.readAnalog(pin, limited));
    this.#keep(readings, { pin, value, isAnalog: true, by: "read", at: this.#deps.clock.now() });
    return value;
  }

  async setMotors(alias: string, command: MotorCommand, signal: AbortSignal): Promise<void> {
    await this.#withMotors(alias, "motors", signal, (motors, limited) => motors.set(command, limited));
  }

  async stopMotors(alias: string, which: MotorCommand["motors"], signal: AbortSignal): Promise<void> {
    await this.#withMotors(alias, "motors", signal, (motors, limited) => motors.stop(which, limited));
  }

  async readDistance(alias: string, pin: number, signal: AbortSignal): Promise<number> {
    return await this.#withMotors(alias, "sensors", signal, (motors, limited) => motors.distance(pin, limited));
  }

  /** Rejects with BOARD_REFUSED where another feature has the board to itself. */
  checkWritable(alias: string): void {
    for (const reserved of this.#deps.capabilities(RESERVED_BOARDS)) {
      const reason = reserved.reasonFor(alias);
      if (reason !== undefined) throw new SvcError("BOARD_REFUSED", `${alias} can't be written to: ${reason}`);
    }
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** One command of a board that has a connection; never repeated. */
  async command<T>(
    alias: string,
    signal: AbortSignal,
    work: (dialect: Dialect, signal: AbortSignal) => Promise<T>,
    urgency: Urgency = "ordinary",
  ): Promise<T> {
    const { entry, connection } = this.#find(alias);
    if (!connection) {
      const why =
        entry.transport === "usb" ? "has no serial port" : "speaks no protocol; its pins belong to this computer";
      throw new SvcError("BOARD_FAILED", `${alias} ${why}.`);
    }
    return await connection.run(signal, work, urgency);
  }

  describe(alias: string, signal: AbortSignal): Promise<{ readonly protocol: Protocol; readonly about: Json }> {
    return this.command(alias, signal, async (dialect, limited) => ({
      protocol: dialect.protocol,
      about: await dialect.describe(limited),
    }));
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#boards.values()].map(({ connection }) => connection?.close()));
  }

  #find(alias: string | undefined): Board {
    const connected = [...this.#boards.values()].filter(({ entry }) => entry.isConnected);
    const board = alias === undefined ? (connected.length === 1 ? connected[0] : undefined) : this.#boards.get(alias);
    if (board) return board;
    const there = connected.map(({ entry }) => `${entry.alias} (${entry.board})`).join(", ");
    if (connected.length === 0) {
      throw new SvcError("BOARD_UNKNOWN", "No device found: no board is connected.", {
        hint: "Plug a board in, or name it in [[peripherals.boards]]; svc hardware discover looks for boards.",
      });
    }
    const problem =
      alias === undefined ? "Several boards are connected; name one as device" : "There is no board of this alias";
    throw new SvcError("BOARD_UNKNOWN", `${problem}. Connected: ${there}.`);
  }

  async #withMotors<T>(
    alias: string,
    urgency: Urgency,
    signal: AbortSignal,
    work: (motors: Motors, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const ofMotors = async (dialect: Dialect, limited: AbortSignal): Promise<T> => {
      if (dialect.motors) return await work(dialect.motors, limited);
      throw new SvcError("BOARD_FAILED", `${alias} has no commands for motors; its firmware must speak JSON lines.`);
    };
    return await this.command(alias, signal, ofMotors, urgency);
  }

  #native(): NativePins {
    const [pins] = this.#deps.capabilities(NATIVE_PINS);
    if (pins) return pins;
    throw new SvcError("BOARD_UNKNOWN", "This computer has no pins that svc knows.", {
      hint: 'Boards with transport = "native" need a supported single-board computer and the feature peripheral-sbc.',
    });
  }

  #keep(readings: Map<number, Reading>, reading: Reading): void {
    readings.delete(reading.pin);
    readings.set(reading.pin, reading);
    const [oldest] = readings.keys();
    if (readings.size > MOST_READINGS && oldest !== undefined) readings.delete(oldest);
  }

  async #scan(): Promise<Change> {
    const found = await findBoards(this.#deps);
    const aliases = await this.#aliases.of(found);
    const before = this.#boards;
    const boards = new Map<string, Board>();
    for (const [index, board] of found.entries()) {
      const alias = aliases[index]!;
      boards.set(alias, this.#made(Object.freeze({ alias, ...board.entry }), board.baud, before.get(alias)));
    }
    this.#boards = boards;
    const isUp = (from: ReadonlyMap<string, Board>, alias: string): boolean =>
      from.get(alias)?.entry.isConnected === true;
    const added = [...boards.keys()].filter((alias) => isUp(boards, alias) && !isUp(before, alias));
    const removed = [...before.keys()].filter((alias) => isUp(before, alias) && !isUp(boards, alias));
    for (const alias of added) boards.get(alias)?.connection?.retry();
    const current = new Set([...boards.values()].map(({ connection }) => connection));
    for (const { connection } of before.values()) if (!current.has(connection)) void connection?.close();
    if (this.#isClosed) await this.close();
    if (added.length > 0 || removed.length > 0) for (const listener of this.#listeners) listener({ added, removed });
    return { added, removed };
  }

  #made(entry: BoardEntry, baud: number | undefined, before: Board | undefined): Board {
    const readings = before?.readings ?? new Map<number, Reading>();
    const { transport, path } = entry;
    if (path === undefined || (transport !== "serial" && transport !== "bridge")) {
      return { entry, target: "", connection: undefined, readings };
    }
    const target = `${path} ${baud ?? ""}`;
    // A reconnected board has a new port, even under the same name.
    const isSame = before?.target === target && (entry.isConnected || transport === "bridge");
    const connection = isSame && before.connection ? before.connection : openedLate(entry, baud, this.#deps);
    return { entry, target, connection, readings };
  }
}

/** Opens a board through a serial port or a bridge, and picks the dialects to try. */
interface OpenDeps {
  readonly clock: Clock;
  readonly resolve: FeatureContext["resolve"];
}

/** Nothing is opened before the first command. */
function openedLate(
  { alias, board, transport, path = "" }: BoardEntry,
  baud: number | undefined,
  { clock, resolve }: OpenDeps,
): BoardConnection {
  const isBridge = transport === "bridge";
  return new BoardConnection({
    what: alias,
    clock,
    protocols: isBridge ? ["json"] : protocolsOf(board),
    speedOf: (protocol) => (isBridge ? 0 : (baud ?? (protocol === "firmata" ? 57_600 : 115_200))),
    open: async (speed, signal) => (isBridge ? openBridge(alias, path, resolve, signal) : openPort(alias, path, speed)),
  });
}
/** Loaded when a port is opened: the addon takes its time, and most commands find no board. */
const openPort = async (what: string, path: string, baud: number): Promise<Link> =>
  (await import("./link/serial-link.ts")).openSerial({ what, path, baud });

/** Commands go in plain text: a bridge is on this machine, or in a private network that the config allows. */
async function openBridge(
  what: string,
  path: string,
  resolve: FeatureContext["resolve"],
  signal: AbortSignal,
): Promise<Link> {
  const { host, port } = bridgeOf(path)!;
  const isLoopback = /^(?:127(?:\.\d{1,3}){3}|::1)$/.test(host);
  const name = host === "localhost" ? ["127.0.0.1", "::1"] : undefined;
  const addresses = isLoopback
    ? [host]
    : (name ?? (await resolve(`http://${host.includes(":") ? `[${host}]` : host}:${port}`)));
  if (addresses.some(isPublicAddress)) {
    throw new SvcError(
      "ADDRESS_REFUSED",
      `The bridge of ${what} is at a public address; its commands are not encrypted.`,
      {
        hint: "Use a bridge on this machine or in a network of security.net.allow_private.",
      },
    );
  }
  return (await import("./link/tcp-link.ts")).openTcp({ what, addresses, port }, signal);
}

/** Likely ones first. The probe for a REPL sends Ctrl-C, which must not reach a board with another protocol. */
function protocolsOf(board: string): readonly Protocol[] {
  if (/pico|esp|micro-?bit|rp2/.test(board)) return ["micropython", "json", "firmata"];
  if (/arduino/.test(board)) return ["firmata", "json"];
  return ["json", "firmata", "micropython"];
}
