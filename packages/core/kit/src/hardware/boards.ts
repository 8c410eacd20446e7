/** What hardware features offer each other: the registry of boards, a computer's own pins, live chips, boards with motors. */
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

/** What `probe` offers to features that know boards: what the chip itself says. */
export interface LiveChip {
  /** The chip that the readings are of: `STM32F401RE`. */
  readonly chip: string;
  /** Its board: `nucleo-f401re`. */
  readonly board: string;
  /** The device id named this chip; false: the chip has none, and the caller named it. */
  readonly isIdentified: boolean;
  readonly deviceId: number | undefined;
  readonly revision: number | undefined;
  readonly memory: readonly LiveRegion[];
}

export interface LiveRegion {
  readonly name: "flash" | "RAM";
  readonly start: number;
  readonly bytes: number;
  /** The size was read from the chip, not taken from the data sheet. */
  readonly isLive: boolean;
}

export interface ChipProbe {
  /** Names of the boards whose chips can be read. */
  readonly boards: readonly string[];
  /**
   * Reads the chip that is connected. `chip`: its name or that of its board, where the caller knows it. Throws TOOL_BAD_INPUT, TOOL_FAILED,
   * CONFIG_INVALID, ADDRESS_REFUSED, REMOTE_*.
   */
  read(chip: string | undefined, signal: AbortSignal): Promise<LiveChip>;
}

export const CHIP_PROBE: Capability<ChipProbe> = defineCapability("chip-probe");

/** Boards with motors and distance sensors, for the robot feature; it may reserve boards for its own writes. */
export interface MotorCommand {
  /** Pins or channels of the motors, as the board's firmware counts them. */
  readonly motors: { readonly left: number; readonly right: number };
  /** Metres a second; negative is backward. */
  readonly left: number;
  readonly right: number;
  /** The board stops both motors by itself this many milliseconds after the command came, unless another one came. */
  readonly ttlMs: number;
}

/** Commands are never repeated; those of motors go first on their board, then those of sensors. Reject with BOARD_*; BOARD_FAILED where the board's protocol or firmware has no motors. */
export interface MotorBoards {
  setMotors(alias: string, command: MotorCommand, signal: AbortSignal): Promise<void>;
  stopMotors(alias: string, motors: MotorCommand["motors"], signal: AbortSignal): Promise<void>;
  /** Metres; Infinity: nothing is within the sensor's range. */
  readDistance(alias: string, pin: number, signal: AbortSignal): Promise<number>;
}

/** Provided by the feature that provides `BOARDS`. */
export const MOTOR_BOARDS: Capability<MotorBoards> = defineCapability("motor-boards");

export interface ReservedBoards {
  /** Why tools and commands may not write to this board; undefined: they may. */
  reasonFor(alias: string): string | undefined;
}

/** Provided by a feature that has a board to itself. */
export const RESERVED_BOARDS: Capability<ReservedBoards> = defineCapability("reserved-boards");
