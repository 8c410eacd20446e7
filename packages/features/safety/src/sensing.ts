/** Layer 2, active monitoring: reads the switches and the distance sensors, and tells how old, how plausible and how near. */
import type { Clock } from "@svc/contract";
import type { StopCause } from "./causes.ts";
import type { Limits } from "./config.ts";
import { withTimeout } from "@svc/kit/async";
import { bumpsInDirection, type Direction, facesDirection, isTurn, type Robot } from "./robot.ts";

/** Of one reading; what comes later is of no use. */
const READ_MS = 150;
/** Of one that was not read lately: the board is found and connected first, and an Arduino starts for two seconds then. */
const CONNECT_MS = 6000;
/** A sensor that says the same to the millimetre all this way is frozen: real ones have noise. */
const FROZEN_TRAVEL = 0.15;
/** Or for so long and at least this way, so that a slow robot stops as soon. */
const FROZEN_MS = 400;
const FROZEN_SHORT_TRAVEL = 0.03;
const FROZEN_READINGS = 5;

interface Reading<T> {
  readonly value: T;
  /** Monotonic, when it was asked for: it is not older than that. */
  readonly atMs: number;
  /** How far the robot had come then. */
  readonly odometer: number;
}

/** Since when a sensor says the same. */
interface Unchanged {
  readonly value: number;
  readonly atMs: number;
  readonly odometer: number;
  readonly readings: number;
}

export interface SensingDeps {
  readonly robot: Robot;
  readonly clock: Clock;
  readonly limits: Limits;
  /** Metres that the robot has come at most, ever. */
  readonly odometer: () => number;
  /** A switch or a distance sensor was read. */
  readonly onReading?: () => void;
}

export class Sensing {
  readonly #deps: SensingDeps;
  readonly #distances: (Reading<number> | undefined)[];
  readonly #unchanged: (Unchanged | undefined)[];
  readonly #bumpers: (Reading<boolean> | undefined)[];
  #emergencyStop: Reading<boolean> | undefined;
  #lastFailure: string | undefined;

  constructor(deps: SensingDeps) {
    this.#deps = deps;
    this.#distances = deps.robot.distanceSensors.map(() => undefined);
    this.#unchanged = deps.robot.distanceSensors.map(() => undefined);
    this.#bumpers = deps.robot.bumpers.map(() => undefined);
  }

  /** A movement begins: what the sensors said on the way before says nothing of this one. */
  begin(): void {
    const odometer = this.#deps.odometer();
    const atMs = this.#deps.clock.monotonic();
    for (const [index, same] of this.#unchanged.entries()) {
      if (same) this.#unchanged[index] = { ...same, atMs, odometer, readings: 1 };
    }
  }

  /** Asks every sensor once. Never rejects; a sensor that fails keeps its old reading. */
  async cycle(signal: AbortSignal): Promise<void> {
    await Promise.all([this.readSwitches(signal), this.readDistances(signal)]);
  }

  /** What stops the robot at once: the emergency stop, and the bump switches, with `direction` those that count for it. As `cycle`. */
  async readSwitches(signal: AbortSignal, direction?: Direction): Promise<void> {
    const { robot, onReading } = this.#deps;
    if (robot.hasEmergencyStop) {
      this.#emergencyStop = await this.#read(
        signal,
        (limited) => robot.readEmergencyStop(limited),
        () => this.#emergencyStop,
      );
      onReading?.();
    }
    for (const [index, bumper] of robot.bumpers.entries()) {
      if (direction !== undefined && !bumpsInDirection(bumper, direction)) continue;
      this.#bumpers[index] = await this.#read(
        signal,
        (limited) => robot.readBumper(index, limited),
        () => this.#bumpers[index],
      );
      onReading?.();
    }
  }

  /** With `direction` the sensors that face it. As `cycle`. */
  async readDistances(signal: AbortSignal, direction?: Direction): Promise<void> {
    const { robot, onReading } = this.#deps;
    for (const [index, sensor] of robot.distanceSensors.entries()) {
      if (direction !== undefined && !facesDirection(sensor, direction)) continue;
      const reading = await this.#read(
        signal,
        (limited) => robot.readDistance(index, limited),
        () => this.#distances[index],
      );
      if (reading === undefined || reading === this.#distances[index]) continue;
      this.#distances[index] = reading;
      const { value, atMs, odometer } = reading;
      const same = this.#unchanged[index];
      this.#unchanged[index] =
        same?.value === value ? { ...same, readings: same.readings + 1 } : { value, atMs, odometer, readings: 1 };
      onReading?.();
    }
  }

  /** Undefined if the sensor is missing or was never read. */
  get isEmergencyStopPressed(): boolean | undefined {
    return this.#emergencyStop?.value;
  }

  /** Of a switch that was read within the time that readings hold. */
  emergencyStopNow(): boolean | undefined {
    const { clock, limits } = this.#deps;
    const reading = this.#emergencyStop;
    return reading && clock.monotonic() - reading.atMs <= limits.sensorTimeoutMs ? reading.value : undefined;
  }

  /** Metres to the nearest obstacle in the direction, with the way since the reading taken off; undefined: no sensor faces it. */
  ahead(direction: Direction): number | undefined {
    const { robot, odometer } = this.#deps;
    // A robot that turns on the spot comes near to nothing; without any sensor it is blind in a turn too.
    let nearest = isTurn(direction) && robot.distanceSensors.length > 0 ? Number.POSITIVE_INFINITY : undefined;
    for (const [index, sensor] of robot.distanceSensors.entries()) {
      if (!facesDirection(sensor, direction)) continue;
      const reading = this.#distances[index];
      const distance = reading ? reading.value - (isTurn(direction) ? 0 : odometer() - reading.odometer) : 0;
      nearest = Math.min(nearest ?? Number.POSITIVE_INFINITY, distance);
    }
    return nearest;
  }

  isBumped(direction: Direction): boolean {
    return this.#deps.robot.bumpers.some(
      (bumper, index) => bumpsInDirection(bumper, direction) && this.#bumpers[index]?.value === true,
    );
  }

  /** Why the sensors can't be relied on for this direction. */
  problem(direction: Direction): StopCause | undefined {
    const { robot, odometer, clock, limits } = this.#deps;
    const needed: (readonly [name: string, reading: Reading<unknown> | undefined])[] = [
      ...(robot.hasEmergencyStop ? ([["emergency stop", this.#emergencyStop]] as const) : []),
      ...robot.bumpers.flatMap((bumper, index) =>
        bumpsInDirection(bumper, direction) ? [[bumper.name, this.#bumpers[index]] as const] : [],
      ),
      ...robot.distanceSensors.flatMap((sensor, index) =>
        facesDirection(sensor, direction) ? [[sensor.name, this.#distances[index]] as const] : [],
      ),
    ];
    const now = clock.monotonic();
    for (const [name, reading] of needed) {
      if (reading && now - reading.atMs <= limits.sensorTimeoutMs) continue;
      const age = reading ? `has said nothing for ${((now - reading.atMs) / 1000).toFixed(1)} s` : "was never read";
      const why = this.#lastFailure === undefined ? "" : ` Last failure: ${this.#lastFailure}`;
      return { reason: "sensor_stale", layer: 2, message: `The sensor "${name}" ${age}.${why}` };
    }
    if (isTurn(direction)) return undefined;
    for (const [index, sensor] of robot.distanceSensors.entries()) {
      const same = this.#unchanged[index];
      if (!same || same.value === Number.POSITIVE_INFINITY || !facesDirection(sensor, direction)) continue;
      const travelled = odometer() - same.odometer;
      const isLong = now - same.atMs >= FROZEN_MS && travelled >= FROZEN_SHORT_TRAVEL;
      if (same.readings < FROZEN_READINGS || !(isLong || travelled >= FROZEN_TRAVEL)) continue;
      const message = `The sensor "${sensor.name}" said the same for ${travelled.toFixed(2)} m; it is frozen.`;
      return { reason: "sensor_frozen", layer: 2, message };
    }
    return undefined;
  }

  /** What is known, for a person. */
  snapshot(): { readonly distances: readonly SensorView[]; readonly bumpers: readonly SensorView[] } {
    const { robot, clock } = this.#deps;
    const now = clock.monotonic();
    const view = (name: string, angle: number, reading: Reading<number | boolean> | undefined): SensorView => ({
      name,
      angle,
      value: reading?.value,
      ageMs: reading && now - reading.atMs,
    });
    return {
      distances: robot.distanceSensors.map(({ name, angle }, index) => view(name, angle, this.#distances[index])),
      bumpers: robot.bumpers.map(({ name, angle }, index) => view(name, angle, this.#bumpers[index])),
    };
  }

  async #read<T>(
    signal: AbortSignal,
    read: (signal: AbortSignal) => Promise<T>,
    latest: () => Reading<T> | undefined,
  ): Promise<Reading<T> | undefined> {
    const { clock, odometer, limits } = this.#deps;
    const known = latest();
    const isKnown = known !== undefined && clock.monotonic() - known.atMs <= limits.sensorTimeoutMs;
    const asked = { atMs: clock.monotonic(), odometer: odometer() };
    try {
      const reading = { ...asked, value: await within(clock, isKnown ? READ_MS : CONNECT_MS, signal, read) };
      // Another round may have read it meanwhile.
      const other = latest();
      return other && other.atMs > reading.atMs ? other : reading;
    } catch (error) {
      if (!signal.aborted) this.#lastFailure = (error as Error).message;
      return latest();
    }
  }
}

export interface SensorView {
  readonly name: string;
  readonly angle: number;
  readonly value: number | boolean | undefined;
  readonly ageMs: number | undefined;
}

/** Ends the wait, whatever `work` makes of the signal. */
export const within = <T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const error = (): Error => new Error(`no answer within ${timeoutMs} ms`);
  return withTimeout({ clock: afterAnswers(clock), timeoutMs, signal, error }, work);
};

/** A process that was held up hears its timers first; an answer that waits to be read counts. */
const afterAnswers = (clock: Clock): Pick<Clock, "after"> => ({
  after(delayMs, run) {
    let cancel = clock.after(delayMs - 1, () => (cancel = clock.after(1, run)));
    return () => cancel();
  },
});
