/** Boards with motors and distance sensors, for the robot feature; it may reserve boards for its own writes. */
import { type Capability, defineCapability } from "@svc/contract";

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
