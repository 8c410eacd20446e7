/**
 * A robot in a simulated room, for people without one and for tests: two driven wheels, sensors with noise, and a motor board that stops
 * by itself when a command's life is over. The simulation advances when it is read: nothing runs by itself.
 */
import type { Clock } from "@svc/contract";
import type { Robot, Sensor, WheelSpeeds } from "./robot.ts";

/** Metres. */
const ROOM = { width: 6, height: 4 };
const OBSTACLES = 6;
const ROBOT_RADIUS = 0.1;
const TRACK = 0.2;
const BUMP_REACH = 0.03;
/** Metres a second squared, of both wheels. */
export const DECELERATION = 2;
/** Degrees to each side of a distance sensor's axis; three of them together see 46 degrees to each side. */
const CONE = 16;
const RANGE = 4;
const NOISE = 0.003;
const STEP_MS = 10;

export interface Obstacle {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Metres from the upper left corner; the heading in degrees clockwise from the right. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly obstacles: readonly Obstacle[];
  readonly robot: { readonly x: number; readonly y: number; readonly heading: number; readonly radius: number };
}

/** How the line to the motor board is. */
export interface LineConditions {
  /** Milliseconds to the board, and as many back. */
  latencyMs(): number;
  isLost(): boolean;
}

export interface SimulatorOptions {
  readonly clock: Clock;
  readonly seed: number;
  /** Default: immediate and whole. */
  readonly line?: LineConditions;
}

interface Wheel {
  speed: number;
  wanted: number;
}

export class SimulatedRobot implements Robot {
  readonly distanceSensors: readonly Sensor[] = [0, -30, 30, 180, 150, 210].map((angle) => ({
    name: `distance at ${angle}°`,
    angle,
  }));
  readonly bumpers: readonly Sensor[] = [
    { name: "front bumper", angle: 0 },
    { name: "rear bumper", angle: 180 },
  ];
  readonly hasEmergencyStop = true;
  readonly obstacles: Obstacle[];
  /** For tests: what a reading becomes, and what happens in each step. */
  distort: (metres: number, index: number) => number = (metres) => metres;
  onStep: (step: { readonly speed: number; readonly ahead: number; readonly atMs: number }) => void = () => {};
  isEmergencyStopPressed = false;
  areBumpersDead = false;
  isCut = false;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #line: LineConditions | undefined;
  readonly #left: Wheel = { speed: 0, wanted: 0 };
  readonly #right: Wheel = { speed: 0, wanted: 0 };
  #x = ROOM.width / 2;
  #y = ROOM.height / 2;
  #heading = 0;
  #atMs: number;
  #deadMs = 0;
  /** A serial line keeps the order. */
  #arrivalMs = 0;

  constructor({ clock, seed, line }: SimulatorOptions) {
    this.#clock = clock;
    this.#line = line;
    this.#random = seededRandom(seed);
    this.#atMs = clock.monotonic();
    this.obstacles = this.#furnish();
  }

  async readDistance(index: number, signal: AbortSignal): Promise<number> {
    return await this.#exchange(signal, () => {
      const { angle } = this.distanceSensors[index]!;
      const metres = this.nearest(angle, CONE);
      const noise = (this.#random() * 2 - 1) * NOISE;
      const measured =
        metres > RANGE ? Number.POSITIVE_INFINITY : Math.max(0, Math.round((metres + noise) * 1000) / 1000);
      return this.distort(measured, index);
    });
  }

  async readBumper(index: number, signal: AbortSignal): Promise<boolean> {
    return await this.#exchange(signal, () => {
      const touching = this.nearest(this.bumpers[index]!.angle, 80) <= ROBOT_RADIUS + BUMP_REACH;
      return touching && !this.areBumpersDead;
    });
  }

  async readEmergencyStop(signal: AbortSignal): Promise<boolean> {
    return await this.#exchange(signal, () => this.isEmergencyStopPressed);
  }

  async setMotors({ left, right }: WheelSpeeds, ttlMs: number, signal: AbortSignal): Promise<void> {
    await this.#exchange(signal, () => {
      this.#left.wanted = left;
      this.#right.wanted = right;
      this.#deadMs = this.#atMs + ttlMs;
    });
  }

  async stopMotors(signal: AbortSignal): Promise<void> {
    await this.#exchange(signal, () => this.#cutPower());
  }

  get isStanding(): boolean {
    this.#moveOn();
    return this.#left.speed === 0 && this.#right.speed === 0;
  }

  scene(): Scene {
    this.#moveOn();
    const heading = (((this.#heading * 180) / Math.PI) % 360) + 0;
    return { ...ROOM, obstacles: this.obstacles, robot: { x: this.#x, y: this.#y, heading, radius: ROBOT_RADIUS } };
  }

  /** Puts it somewhere else, in metres and degrees. */
  place(x: number, y: number, heading: number): void {
    this.#moveOn();
    this.#x = x;
    this.#y = y;
    this.#heading = (heading * Math.PI) / 180;
  }

  /** Metres from the robot's middle to the nearest surface within a cone around `angle`. */
  nearest(angle: number, cone: number): number {
    const axis = this.#heading + (angle * Math.PI) / 180;
    const half = (cone * Math.PI) / 180;
    let nearest = this.#nearestWall(axis, half);
    for (const { x, y, radius } of this.obstacles) {
      const dx = x - this.#x;
      const dy = y - this.#y;
      const far = Math.hypot(dx, dy);
      if (far <= radius) return 0;
      const off = Math.abs(wrapped(Math.atan2(dy, dx) - axis));
      const edge = Math.max(0, off - half);
      if (edge >= Math.asin(radius / far)) continue;
      nearest = Math.min(nearest, far * Math.cos(edge) - Math.sqrt(radius ** 2 - (far * Math.sin(edge)) ** 2));
    }
    return nearest;
  }

  #nearestWall(axis: number, half: number): number {
    // Within a rectangle the nearest point of a cone is straight before a wall, or on the cone's edge.
    const straight = [0, Math.PI / 2, Math.PI, -Math.PI / 2].filter((wall) => Math.abs(wrapped(wall - axis)) <= half);
    return Math.min(...[...straight, axis - half, axis + half].map((direction) => this.#toWall(direction)));
  }

  #toWall(direction: number): number {
    const [dx, dy] = [Math.cos(direction), Math.sin(direction)];
    const alongX = dx > 0 ? (ROOM.width - this.#x) / dx : this.#x / -dx;
    const alongY = dy > 0 ? (ROOM.height - this.#y) / dy : this.#y / -dy;
    return Math.min(dx === 0 ? Number.POSITIVE_INFINITY : alongX, dy === 0 ? Number.POSITIVE_INFINITY : alongY);
  }

  /** There and back; what is lost on the way there does nothing, on the way back it is only not heard of. */
  async #exchange<T>(signal: AbortSignal, act: () => T): Promise<T> {
    signal.throwIfAborted();
    if (this.isCut) throw new Error("the line is cut");
    if (this.#line === undefined) {
      this.#moveOn();
      return act();
    }
    const { latencyMs, isLost } = this.#line;
    const now = this.#clock.monotonic();
    this.#arrivalMs = Math.max(this.#arrivalMs, now + latencyMs());
    const isLostThere = isLost();
    await this.#clock.sleep(this.#arrivalMs - now);
    if (isLostThere || this.isCut) return await never(signal);
    this.#moveOn();
    const result = act();
    await this.#clock.sleep(latencyMs());
    return isLost() || this.isCut ? await never(signal) : result;
  }

  #cutPower(): void {
    this.#left.wanted = 0;
    this.#right.wanted = 0;
  }

  /** Simulates the time since the last reading. */
  #moveOn(): void {
    const now = this.#clock.monotonic();
    while (this.#atMs < now) {
      const stepMs = Math.min(STEP_MS, now - this.#atMs);
      this.#atMs += stepMs;
      if (this.#atMs >= this.#deadMs) this.#cutPower();
      const isMoving = [this.#left, this.#right].some(({ speed, wanted }) => speed !== 0 || wanted !== 0);
      if (!isMoving) {
        this.#atMs = now;
        return;
      }
      this.#step(stepMs / 1000);
    }
  }

  #step(seconds: number): void {
    for (const wheel of [this.#left, this.#right]) {
      const change = DECELERATION * seconds;
      wheel.speed += Math.max(-change, Math.min(change, wheel.wanted - wheel.speed));
    }
    const speed = (this.#left.speed + this.#right.speed) / 2;
    this.#heading += ((this.#left.speed - this.#right.speed) / TRACK) * seconds;
    const [x, y] = [this.#x, this.#y];
    this.#x += Math.cos(this.#heading) * speed * seconds;
    this.#y += Math.sin(this.#heading) * speed * seconds;
    const behind = speed < 0 ? 180 : 0;
    const ahead = this.nearest(behind, 45);
    if (speed !== 0 && this.nearest(behind, 80) < ROBOT_RADIUS) {
      // It pushes against something.
      this.#x = x;
      this.#y = y;
    }
    this.onStep({ speed, ahead, atMs: this.#atMs });
  }

  #furnish(): Obstacle[] {
    const obstacles: Obstacle[] = [];
    while (obstacles.length < OBSTACLES) {
      const radius = 0.1 + this.#random() * 0.25;
      const [x, y] = [this.#random() * ROOM.width, this.#random() * ROOM.height];
      // Where it starts there is room to turn.
      if (Math.hypot(x - this.#x, y - this.#y) > radius + 0.8) obstacles.push({ x, y, radius });
    }
    return obstacles;
  }
}

/** An angle between -π and π. */
const wrapped = (angle: number): number => Math.atan2(Math.sin(angle), Math.cos(angle));

async function never(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) throw signal.reason;
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return await promise;
}

/** Mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
