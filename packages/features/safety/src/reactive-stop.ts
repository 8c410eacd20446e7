/** Layer 3, the reactive stop: an obstacle below the minimum or a bump stops the motors, whatever was asked for. Pure. */
import type { StopCause } from "./causes.ts";
import type { Limits } from "./config.ts";
import { type Direction, inMetres, isTurn } from "./robot.ts";

export interface SensorState {
  readonly ahead: number | undefined;
  readonly isBumped: boolean;
}

export function reactiveStop(
  direction: Direction,
  { ahead, isBumped }: SensorState,
  { minDistance }: Pick<Limits, "minDistance">,
): StopCause | undefined {
  if (isBumped) return { reason: "bump", layer: 3, message: "The robot bumped into something." };
  if (isTurn(direction) || ahead === undefined || ahead >= minDistance) return undefined;
  return {
    reason: "obstacle",
    layer: 3,
    message: `An obstacle is ${inMetres(Math.max(0, ahead))} away; the minimum is ${inMetres(minDistance)}.`,
  };
}
