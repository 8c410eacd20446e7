/** A robot whose motors, sensors and switches are connected to boards. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { BOARDS, type Boards, MOTOR_BOARDS, type MotorBoards } from "@svc/kit/hardware";
import type { SafetyConfig } from "./config.ts";
import type { Robot, Sensor, WheelSpeeds } from "./robot.ts";

interface Connected extends Sensor {
  readonly board: string;
  readonly pin: number;
}

export class BoardRobot implements Robot {
  readonly distanceSensors: readonly Connected[];
  readonly bumpers: readonly Connected[];
  readonly hasEmergencyStop: boolean;
  readonly #capabilities: FeatureContext["capabilities"];
  readonly #board: string;
  readonly #motors: { readonly left: number; readonly right: number };
  readonly #stopPin: number | undefined;

  constructor(
    { drive, sensors, bump_pins: bumpPins, estop_pin: stopPin }: SafetyConfig,
    { capabilities }: Pick<FeatureContext, "capabilities">,
  ) {
    const { board = "", left = 0, right = 0 } = drive;
    this.#capabilities = capabilities;
    this.#board = board;
    this.#motors = { left, right };
    this.#stopPin = stopPin;
    this.hasEmergencyStop = stopPin !== undefined;
    const ofKind = (wanted: string): Connected[] =>
      sensors
        .filter(({ kind }) => kind === wanted)
        .map(({ board, pin, angle }) => ({
          board,
          pin,
          angle,
          name: `${wanted} at ${angle}°, pin ${pin} of ${board}`,
        }));
    this.distanceSensors = ofKind("distance");
    const front = bumpPins.map((pin) => ({ board, pin, angle: 0, name: `bump switch, pin ${pin} of ${board}` }));
    this.bumpers = [...front, ...ofKind("bump")];
  }

  /** Aliases of all boards that it is made of. */
  get boards(): ReadonlySet<string> {
    return new Set([this.#board, ...[...this.distanceSensors, ...this.bumpers].map(({ board }) => board)]);
  }

  async readDistance(index: number, signal: AbortSignal): Promise<number> {
    const { board, pin } = this.distanceSensors[index]!;
    return await this.#motorBoards().readDistance(board, pin, signal);
  }

  async readBumper(index: number, signal: AbortSignal): Promise<boolean> {
    const { board, pin } = this.bumpers[index]!;
    return (await this.#boards().readPin(board, pin, { pull: "up", isUrgent: true, signal })) === 0;
  }

  /** The switch opens when it is pressed, so that a cut wire is a stop. */
  async readEmergencyStop(signal: AbortSignal): Promise<boolean> {
    return (await this.#boards().readPin(this.#board, this.#stopPin!, { pull: "up", isUrgent: true, signal })) === 1;
  }

  async setMotors(speeds: WheelSpeeds, ttlMs: number, signal: AbortSignal): Promise<void> {
    await this.#motorBoards().setMotors(this.#board, { motors: this.#motors, ...speeds, ttlMs }, signal);
  }

  async stopMotors(signal: AbortSignal): Promise<void> {
    await this.#motorBoards().stopMotors(this.#board, this.#motors, signal);
  }

  // A reload replaces the registry.
  #boards(): Boards {
    return this.#capabilities(BOARDS)[0] ?? noBoards();
  }

  #motorBoards(): MotorBoards {
    return this.#capabilities(MOTOR_BOARDS)[0] ?? noBoards();
  }
}

function noBoards(): never {
  throw new SvcError("FEATURE_DOWN", "The boards are not in service.", {
    hint: "Name the board in [[peripherals.boards]], or turn [hardware] on.",
  });
}
