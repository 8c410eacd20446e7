// Whatever the room, the latency and the losses of the line: a robot never comes nearer to what is ahead than the minimum minus its braking
// distance. And each layer, broken on purpose, is missed: by this property, or by the layer that stops the robot in its place.
import { cases } from "@svc/cases";
import { describe, expect, test } from "vitest";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { EmergencyStop } from "../src/emergency-stop.ts";
import { checkMove } from "../src/pre-move.ts";
import { DIRECTIONS } from "../src/robot.ts";
import { LAYERS } from "../src/safety-monitor.ts";
import { Sensing } from "../src/sensing.ts";
import { DECELERATION, seededRandom } from "../src/simulator.ts";
import { Watchdog } from "../src/watchdog.ts";
import { forever, type Given, startRobot } from "./robot.ts";

const MIN = 0.3;
const APPROACH = 0.3;
/** From the highest speed that is allowed near the minimum; then the noise of the sensors. */
const NEAREST = MIN - APPROACH ** 2 / (2 * DECELERATION) - 0.005;
const STEP_MS = 40;
const STEPS_A_WORLD = 1000;

interface Outcome {
  violations: number;
  nearest: number;
  /** Control periods in which the robot moved. */
  moved: number;
  /** Reasons of ends and refusals, and how often. */
  readonly reasons: Map<string, number>;
}

/** A robot that is asked for one movement after the other, in one room, for that many control periods. */
async function drivenAround(
  seed: number,
  steps: number,
  given: Given = {},
  outcome = emptyOutcome(),
): Promise<Outcome> {
  const random = seededRandom(seed);
  const slowest = random() * 90;
  const losses = random() < 0.5 ? 0 : random() ** 2 * 0.1;
  const line = { latencyMs: () => random() * slowest, isLost: () => random() < losses };
  const fastest = 0.3 + random() * 1.2;
  const one = await startRobot({ seed, line, section: { max_speed: fastest }, ...given });
  one.robot.onStep = ({ speed, ahead }) => {
    if (speed === 0) return;
    outcome.nearest = Math.min(outcome.nearest, ahead);
    if (ahead < NEAREST) outcome.violations += 1;
  };
  let isBusy = false;
  for (let step = 0; step < steps; step += 1) {
    if (!isBusy) {
      isBusy = true;
      const direction = DIRECTIONS[Math.floor(random() * 4)]!;
      const request = { direction, speed: 0.05 + random() * fastest, distance: 0.1 + random() * 3, seconds: undefined };
      void one.drive
        .drive(request, "a test", forever)
        .then(
          ({ stopped }) => stopped.reason,
          () => undefined,
        )
        .then((reason) => {
          isBusy = false;
          const found = reason ?? "refused";
          outcome.reasons.set(found, (outcome.reasons.get(found) ?? 0) + 1);
        });
    }
    // Most movements end by themselves; some are told to.
    if (isBusy && random() < 0.002) void one.drive.stop("a test");
    await one.clock.advance(STEP_MS);
    if (!one.robot.isStanding) outcome.moved += 1;
  }
  await one.end();
  return outcome;
}

const emptyOutcome = (): Outcome => ({
  violations: 0,
  nearest: Number.POSITIVE_INFINITY,
  moved: 0,
  reasons: new Map(),
});

async function worlds(count: number, first: number, given: Given = {}): Promise<Outcome> {
  const outcome = emptyOutcome();
  for (let world = 0; world < count; world += 1) await drivenAround(first + world, STEPS_A_WORLD, given, outcome);
  return outcome;
}

test("100 000 control periods in seeded rooms: never nearer than the minimum minus the braking distance", async () => {
  const { violations, nearest, moved, reasons } = await worlds(cases(100), Number(process.env["SVC_SEED"] ?? 1) >>> 0);
  expect({ violations, nearest: nearest >= NEAREST }).toEqual({ violations: 0, nearest: true });
  // They were worlds in which something happened.
  expect(moved).toBeGreaterThan((cases(100) * STEPS_A_WORLD) / 10);
  expect([...reasons.keys()].length).toBeGreaterThan(3);
});

describe("a broken layer is found", () => {
  const room = { seed: 3 };

  test("1: without the check before a movement the reactive stop has to end what should not have begun", async () => {
    const layers = { ...LAYERS, checkMove: blindCheck };
    await using one = await startRobot({ ...room, layers });
    one.robot.obstacles.length = 0;
    const { x, y } = one.robot.scene().robot;
    one.robot.obstacles.push({ x: x + 0.4, y, radius: 0.15 });
    expect(await one.move({ distance: 1 })).toMatchObject({ reason: "obstacle", layer: 3 });
  });

  test("1: without it at all the reactive stop comes too late for a fast robot", async () => {
    const ends: string[] = [];
    const without1 = { checkMove: blindCheck, allowedSpeed: (_: unknown, speed: number) => speed };
    for (const layers of [LAYERS, { ...LAYERS, ...without1 }]) {
      await using one = await startRobot({ layers, section: { max_speed: 1.5, approach_speed_limit: APPROACH } });
      one.robot.obstacles.length = 0;
      const { reason } = await one.move({ distance: 9, speed: 1.5 });
      await one.clock.advance(1000);
      ends.push(`${reason} ${one.robot.nearest(0, 45) >= NEAREST ? "in time" : "too near"}`);
    }
    expect(ends).toEqual(["done in time", "obstacle too near"]);
  });

  test("2: a sensor that falls silent is noticed; unnoticed, the way since its last reading still ends the movement", async () => {
    const ends: string[] = [];
    for (const Watch of [Sensing, UnwatchedSensing, TrustingSensing]) {
      await using one = await startRobot({ layers: { ...LAYERS, Sensing: Watch } });
      one.robot.obstacles.length = 0;
      const moving = one.move({ distance: 5, speed: 0.3 });
      await one.clock.advance(600);
      one.robot.distort = () => {
        throw new Error("no echo");
      };
      const { reason } = await moving;
      ends.push(`${reason} ${one.robot.nearest(0, 45) >= NEAREST ? "in time" : "too near"}`);
    }
    expect(ends).toEqual(["sensor_stale in time", "done in time", "bump too near"]);
  });

  test("2: with readings that are trusted blindly the robot comes too near", async () => {
    const { violations } = await worlds(5, 1, { layers: { ...LAYERS, Sensing: TrustingSensing } });
    expect(violations).toBeGreaterThan(0);
  });

  test("3: without the reactive stop the slow zone stops the robot later, and without both nothing does", async () => {
    const { reactiveStop, allowedSpeed } = LAYERS;
    const unlimited = { allowedSpeed: (_: unknown, speed: number) => speed, keepAlive: always };
    const ends: (string | number | undefined)[] = [];
    for (const layers of [
      { ...LAYERS, reactiveStop, allowedSpeed },
      { ...LAYERS, reactiveStop: () => undefined },
      { ...LAYERS, reactiveStop: () => undefined, ...unlimited },
    ]) {
      await using one = await startRobot({ layers });
      one.robot.obstacles.length = 0;
      const moving = one.move({ distance: 2 });
      await one.clock.advance(1200);
      const { x, y } = one.robot.scene().robot;
      one.robot.obstacles.push({ x: x + 0.45, y, radius: 0.2 });
      const { reason, layer } = await moving;
      ends.push(`${reason} ${layer}`);
    }
    expect(ends).toEqual(["obstacle 3", "obstacle 1", "done undefined"]);
  });

  test("4: with commands that live for ever the robot drives on when its line is cut", async () => {
    const standing: boolean[] = [];
    for (const keepAlive of [LAYERS.keepAlive, (speed: number) => ({ speed, ttlMs: 3_600_000 })]) {
      await using one = await startRobot({ layers: { ...LAYERS, keepAlive } });
      one.robot.obstacles.length = 0;
      const moving = one.move({ direction: "left", distance: 50, speed: 0.1 });
      await one.clock.advance(600);
      one.robot.isCut = true;
      await moving;
      await one.clock.advance(2000);
      standing.push(one.robot.isStanding);
    }
    expect(standing).toEqual([true, false]);
  });

  test("4: without the watchdog a movement goes on after a jump of the clock", async () => {
    const reasons: string[] = [];
    for (const Guard of [Watchdog, SleepingWatchdog]) {
      await using one = await startRobot({ layers: { ...LAYERS, Watchdog: Guard } });
      one.robot.obstacles.length = 0;
      const moving = one.move({ distance: 1 });
      await one.clock.advance(600);
      one.clock.setWallClock(0);
      reasons.push((await moving).reason);
    }
    expect(reasons).toEqual(["time_jump", "done"]);
  });

  test("5: a switch that is not heard, or a latch that does not hold or is not kept, lets the robot drive", async () => {
    const ends: string[] = [];
    for (const [Stop, Watch] of [
      [EmergencyStop, Sensing],
      [EmergencyStop, DeafSensing],
      [LooseStop, Sensing],
      [ForgetfulStop, Sensing],
    ] as const) {
      const given = { EmergencyStop: Stop, layers: { ...LAYERS, Sensing: Watch }, state: memorySecrets() };
      const reasons: string[] = [];
      // The switch is pressed in a movement, and released; then svc starts again.
      for (const isPressed of [true, false]) {
        await using one = await startRobot(given);
        one.robot.obstacles.length = 0;
        const moving = one.move({ distance: 1, speed: 0.3 }).then(
          ({ reason }) => reason,
          ({ code }: { readonly code: string }) => code,
        );
        await one.clock.advance(600);
        one.robot.isEmergencyStopPressed = isPressed;
        reasons.push(await moving);
      }
      ends.push(reasons.join(", then "));
    }
    expect(ends).toEqual([
      "emergency_stop, then SAFETY_LATCHED",
      "done, then done",
      "emergency_stop, then done",
      "emergency_stop, then done",
    ]);
  });
});

class DeafSensing extends Sensing {
  override get isEmergencyStopPressed(): false {
    return false;
  }
}

class LooseStop extends EmergencyStop {
  override async engage(): Promise<void> {}
}

class ForgetfulStop extends EmergencyStop {
  constructor() {
    super(memorySecrets());
  }
}

const always = (speed: number) => ({ speed, ttlMs: 500 });

const blindCheck: typeof checkMove = ({ direction, speed, distance = 1 }) => ({
  direction,
  speed,
  distance,
  durationMs: 30_000,
  notes: [],
});

class UnwatchedSensing extends Sensing {
  override problem(): undefined {
    return undefined;
  }
}

class TrustingSensing extends Sensing {
  override problem(): undefined {
    return undefined;
  }

  override ahead(): number {
    return 9;
  }
}

class SleepingWatchdog extends Watchdog {
  override check(): undefined {
    return undefined;
  }
}
