/** What a board speaks. A dialect has one exchange at a time with its board; the connection sees to that. */
import type { Json } from "@svc/contract";
import type { Level, MotorCommand, Pull } from "@svc/kit/hardware";

export type Protocol = "micropython" | "firmata" | "json";

export interface Dialect {
  readonly protocol: Protocol;
  /** False from the first byte of an exchange to its last: what the board sends next can't be told apart then. */
  readonly isSettled: boolean;
  /** What the board tells of itself. */
  describe(signal: AbortSignal): Promise<Json>;
  /** Rejects with TOOL_BAD_INPUT for a pin or a pull that the board does not have, and with BOARD_*. */
  readPin(pin: number, pull: Pull | undefined, signal: AbortSignal): Promise<Level>;
  writePin(pin: number, value: Level, signal: AbortSignal): Promise<void>;
  /** In the scale of the board's converter. Rejects as `readPin`. */
  readAnalog(pin: number, signal: AbortSignal): Promise<number>;
  /** Of protocols that have commands for motors and distance sensors. */
  readonly motors?: Motors;
  /** Of boards that run source code. */
  readonly code?: CodeRunner;
  /** Leaves the board as a person would find it. */
  release?(): Promise<void>;
}

export interface Motors {
  set(command: MotorCommand, signal: AbortSignal): Promise<void>;
  stop(motors: MotorCommand["motors"], signal: AbortSignal): Promise<void>;
  /** Metres; Infinity: nothing is within the sensor's range. */
  distance(pin: number, signal: AbortSignal): Promise<number>;
}

export interface CodeRunner {
  run(code: string, options: RunCodeOptions): Promise<CodeOutput>;
}

export interface RunCodeOptions {
  /** Then it is interrupted: BOARD_TIMEOUT. */
  readonly timeoutMs: number;
  /** Of the output; the rest is dropped. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface CodeOutput {
  readonly output: Buffer;
  readonly isCut: boolean;
  /** The traceback; empty where it ended well. */
  readonly error: string;
}
