/** Layer 1, the check before a movement: whether the robot may go at all, how fast, and how far. Pure. */
import type { Refusal } from "./causes.ts";
import type { Limits } from "./config.ts";
import { type Direction, inMetres, isTurn } from "./robot.ts";

/** Shorter ways and lower speeds are not worth starting, and would never end. */
const SHORTEST_WAY = 0.02;
export const LOWEST_SPEED = 0.015;

export interface MoveRequest {
  readonly direction: Direction;
  /** Metres a second. */
  readonly speed: number;
  /** Metres; of a turn, as far as each wheel rolls. */
  readonly distance: number | undefined;
  readonly seconds: number | undefined;
}

export interface Move {
  readonly direction: Direction;
  readonly speed: number;
  /** Infinity: until the time is over. */
  readonly distance: number;
  readonly durationMs: number;
  /** What differs from the request, a sentence each. */
  readonly notes: readonly string[];
}

/** What the sensors that face the direction say; undefined: none faces it. */
export type Ahead = number | undefined;

/** 0 at the minimum, 1 at the end of the slow zone, linear between. */
export function speedFactor(
  distance: number,
  { minDistance, slowDistance }: Pick<Limits, "minDistance" | "slowDistance">,
): number {
  return Math.min(1, Math.max(0, (distance - minDistance) / (slowDistance - minDistance)));
}

/** The highest speed that a request of `speed` is granted now. Asked again in each control period. */
export function allowedSpeed(direction: Direction, speed: number, ahead: Ahead, limits: Limits): number {
  const wanted = Math.min(speed, limits.maxSpeed);
  // A robot that turns on the spot comes no nearer to anything.
  if (isTurn(direction)) return Math.min(wanted, limits.approachSpeed);
  if (ahead === undefined) return Math.min(wanted, limits.blindSpeed);
  const inZone = ahead < limits.slowDistance ? Math.min(wanted, limits.approachSpeed) : wanted;
  return Math.min(inZone, wanted * speedFactor(ahead, limits));
}

export function checkMove(request: MoveRequest, ahead: Ahead, limits: Limits): Move | Refusal {
  const { direction, speed, distance = Number.POSITIVE_INFINITY, seconds } = request;
  const notes: string[] = [];
  if (speed > limits.maxSpeed) notes.push(`The speed was limited to max_speed, ${limits.maxSpeed} m/s.`);
  const free = isTurn(direction) || ahead === undefined ? Number.POSITIVE_INFINITY : ahead - limits.minDistance;
  if (ahead !== undefined && (isTurn(direction) ? ahead < limits.minDistance : free < SHORTEST_WAY)) {
    const where = isTurn(direction) ? `to the ${direction}` : direction === "forward" ? "ahead" : "behind";
    return {
      reason: "obstacle",
      message: `The nearest obstacle ${where} is ${inMetres(ahead)} away; the minimum is ${inMetres(limits.minDistance)}.`,
    };
  }
  if (allowedSpeed(direction, speed, ahead, limits) < LOWEST_SPEED) {
    return {
      reason: "blind",
      message: `No distance sensor faces ${direction}, and blind_mode_speed_limit is ${limits.blindSpeed} m/s.`,
    };
  }
  const durationMs = Math.min((seconds ?? Number.POSITIVE_INFINITY) * 1000, limits.maxDriveMs);
  const wanted = Math.min(distance, (Math.min(speed, limits.maxSpeed) * durationMs) / 1000);
  if (wanted > free) notes.push(`Only ${inMetres(free)} are free; the way was shortened from ${inMetres(wanted)}.`);
  if (seconds !== undefined && durationMs < seconds * 1000) {
    notes.push(`The time was limited to max_drive_duration, ${limits.maxDriveMs / 1000} s.`);
  }
  return { direction, speed, distance: Math.min(distance, free), durationMs, notes };
}
