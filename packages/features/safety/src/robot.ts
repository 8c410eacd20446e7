/** A robot as the safety layers see it, and which way things are. Metres, metres a second, degrees clockwise from ahead. */

export const DIRECTIONS = ["forward", "backward", "left", "right"] as const;
export type Direction = (typeof DIRECTIONS)[number];

export interface Sensor {
  /** For a person, such as `distance at 30°`. */
  readonly name: string;
  readonly angle: number;
}

export interface WheelSpeeds {
  readonly left: number;
  readonly right: number;
}

/** Every command may fail, and none is repeated by itself. */
export interface Robot {
  readonly distanceSensors: readonly Sensor[];
  readonly bumpers: readonly Sensor[];
  readonly hasEmergencyStop: boolean;
  /** Infinity: nothing is within range. */
  readDistance(index: number, signal: AbortSignal): Promise<number>;
  /** Whether it is pressed. */
  readBumper(index: number, signal: AbortSignal): Promise<boolean>;
  readEmergencyStop(signal: AbortSignal): Promise<boolean>;
  /** The robot itself stops the motors after `ttlMs`, unless another command came. */
  setMotors(speeds: WheelSpeeds, ttlMs: number, signal: AbortSignal): Promise<void>;
  stopMotors(signal: AbortSignal): Promise<void>;
}

/** Only `SafetyMonitor` is handed a robot's motors. */
export const wheelSpeeds = (direction: Direction, speed: number): WheelSpeeds => {
  if (direction === "forward") return { left: speed, right: speed };
  if (direction === "backward") return { left: -speed, right: -speed };
  return direction === "left" ? { left: -speed, right: speed } : { left: speed, right: -speed };
};

export const isTurn = (direction: Direction): boolean => direction === "left" || direction === "right";

/** Sensors within this many degrees of the direction count for it. */
const FIELD = { straight: 45, turn: 60, bumper: 90 };
const HEADINGS: Readonly<Record<Direction, number>> = { forward: 0, right: 90, backward: 180, left: 270 };

export const facesDirection = ({ angle }: Sensor, direction: Direction): boolean =>
  apart(angle, HEADINGS[direction]) <= (isTurn(direction) ? FIELD.turn : FIELD.straight);

/** Switches all around count in a turn. */
export const bumpsInDirection = ({ angle }: Sensor, direction: Direction): boolean =>
  isTurn(direction) || apart(angle, HEADINGS[direction]) <= FIELD.bumper;

/** Degrees between two directions, 0 to 180. */
const apart = (one: number, other: number): number => {
  const turned = Math.abs(one - other) % 360;
  return turned > 180 ? 360 - turned : turned;
};

export const inMetres = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? "far" : `${value.toFixed(2)} m`;
