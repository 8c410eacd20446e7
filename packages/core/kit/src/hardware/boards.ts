/** The board registry's interface for other features, and the interface of a computer with its own pins for the registry. */
import { type Capability, defineCapability } from "@svc/contract";

export interface Boards {
  /** Connected boards and configured ones, by alias. */
  list(): readonly BoardEntry[];
  /** Without an alias the one board that is connected. Throws BOARD_UNKNOWN, which lists those there are. */
  find(alias: string | undefined): BoardEntry;
  /**
   * One command at a time for each board; others wait. Never repeated where it may have acted. Reject with BOARD_*, TOOL_BAD_INPUT for
   * a pin that the board does not have.
   */
  readPin(alias: string, pin: number, options: ReadPinOptions): Promise<Level>;
  writePin(alias: string, pin: number, value: Level, signal: AbortSignal): Promise<void>;
  /** What the converter of the pin says, in its own scale: 0 to 1023 of an Arduino, 0 to 65535 with MicroPython. Rejects as `readPin`. */
  readAnalog(alias: string, pin: number, signal: AbortSignal): Promise<number>;
  /** Called after boards were connected or disconnected; the result ends it. */
  onChange(listener: () => void): () => void;
}

/** Provided by one feature, where `[hardware]` or `[peripherals]` is on. */
export const BOARDS: Capability<Boards> = defineCapability("boards");

export type Level = 0 | 1;

export type Pull = "up" | "down" | "none";

export interface ReadPinOptions {
  /** Resistor of the input; undefined: as it is. */
  readonly pull?: Pull | undefined;
  /** A switch that stops a robot: its read does not wait for the ordinary commands of its board. */
  readonly isUrgent?: boolean;
  readonly signal: AbortSignal;
}

export interface BoardEntry {
  /** e.g. `pico0`. */
  readonly alias: string;
  /** e.g. `raspberry-pi-pico`; `device` where it is not known. */
  readonly board: string;
  readonly architecture: string | undefined;
  /** `usb`: an adapter without a serial port. `native`: pins of this computer. */
  readonly transport: "serial" | "bridge" | "native" | "usb";
  /** `/dev/ttyACM0`, `tcp://127.0.0.1:9999`; undefined for `native` and `usb`, and where it is not connected and its port is not known. */
  readonly path: string | undefined;
  readonly usb:
    | { readonly vendorId: number; readonly productId: number; readonly serial: string | undefined }
    | undefined;
  readonly isConnected: boolean;
  /** By `[[peripherals.boards]]`. */
  readonly isConfigured: boolean;
  readonly watch: readonly PinWatch[];
}

/** A pin whose edges start procedures. */
export interface PinWatch {
  /** The signal's name in a trigger. */
  readonly name: string;
  readonly pin: number;
  readonly edge: "rising" | "falling" | "both";
  readonly debounceMs: number;
  readonly pull: Pull | undefined;
  /** The pin is read as a number, and is HIGH from `above` on until it is more than `hysteresis` below. Undefined: a digital pin. */
  readonly analog?: { readonly above: number; readonly hysteresis: number } | undefined;
}

/** The pins of the computer that svc runs on. */
export interface NativePins {
  /** e.g. `rpi0`. */
  readonly alias: string;
  /** e.g. `raspberry-pi-4`. */
  readonly board: string;
  readPin(pin: number, options: ReadPinOptions): Promise<Level>;
  writePin(pin: number, value: Level, signal: AbortSignal): Promise<void>;
  /** The level now, then each one that lasted as long as it must. Ends with the signal. Throws TOOL_*. */
  watchPin(watch: Pick<PinWatch, "pin" | "debounceMs" | "pull">, signal: AbortSignal): AsyncIterable<Level>;
}

export const NATIVE_PINS: Capability<NativePins> = defineCapability("native-pins");
