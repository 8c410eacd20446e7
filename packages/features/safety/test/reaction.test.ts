// Whatever goes wrong while the monitor lives: the motors' board hears the stop within two control periods, at whatever moment of a
// period it happens, on a line that is busy with one exchange at a time. All on a clock that the test moves.
import { cases } from "@svc/cases";
import { afterAll, expect, test } from "vitest";
import { LAYERS } from "../src/safety-monitor.ts";
import type { Robot } from "../src/robot.ts";
import type { SimulatedRobot } from "../src/simulator.ts";
import { forever, type Given, REQUEST, startRobot, type TestRobot } from "./robot.ts";

const PERIODS_MS = 2 * 40;
/** Of a question and its answer, 95 bytes together, at 115 200 baud, with what a board takes to answer. */
const EXCHANGE_MS = 10;
const STEP_MS = cases(100) === 100 ? 2 : 5;

/** A line as that of a board: one exchange at a time, those of motors first, then in order. */
class BusyLine implements Robot {
  readonly distanceSensors: Robot["distanceSensors"];
  readonly bumpers: Robot["bumpers"];
  readonly hasEmergencyStop = true;
  isBumped = false;
  /** When the board was told to stop; undefined while it drives. */
  stoppedMs: number | undefined;
  readonly #robot: SimulatedRobot;
  readonly #clock: TestRobot["clock"];
  readonly #waiting: { readonly isFirst: boolean; readonly begin: () => void }[] = [];
  #isBusy = false;

  constructor(robot: SimulatedRobot, clock: TestRobot["clock"]) {
    this.#robot = robot;
    this.#clock = clock;
    this.distanceSensors = robot.distanceSensors;
    this.bumpers = robot.bumpers;
  }

  readDistance(index: number, signal: AbortSignal): Promise<number> {
    return this.#exchange(false, () => this.#robot.readDistance(index, signal));
  }

  readBumper(index: number, signal: AbortSignal): Promise<boolean> {
    return this.#exchange(false, async () => (await this.#robot.readBumper(index, signal)) || this.isBumped);
  }

  readEmergencyStop(signal: AbortSignal): Promise<boolean> {
    return this.#exchange(false, () => this.#robot.readEmergencyStop(signal));
  }

  setMotors(...command: Parameters<Robot["setMotors"]>): Promise<void> {
    return this.#exchange(true, () => {
      this.stoppedMs = undefined;
      return this.#robot.setMotors(...command);
    });
  }

  stopMotors(signal: AbortSignal): Promise<void> {
    return this.#exchange(true, () => {
      this.stoppedMs ??= this.#clock.monotonic();
      return this.#robot.stopMotors(signal);
    });
  }

  /** The board acts halfway, when it has the question. */
  async #exchange<T>(isFirst: boolean, act: () => Promise<T>): Promise<T> {
    if (this.#isBusy) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push({ isFirst, begin: resolve });
      await promise;
    }
    this.#isBusy = true;
    try {
      await this.#clock.sleep(EXCHANGE_MS / 2);
      const result = await act();
      await this.#clock.sleep(EXCHANGE_MS / 2);
      return result;
    } finally {
      const next = this.#waiting.find((one) => one.isFirst) ?? this.#waiting[0];
      if (next) this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#isBusy = next !== undefined;
      next?.begin();
    }
  }
}

interface Scene {
  readonly one: TestRobot;
  readonly line: BusyLine;
  /** Of the request that drives. */
  readonly request: AbortController;
  broken: boolean;
}

interface Fault {
  readonly reason: string;
  readonly happens: (scene: Scene) => unknown;
  /** How long nobody can know: until a reading is too old, or has been the same for too long. Default: 0. */
  readonly unknownMs?: number;
  readonly given?: (scene: () => Scene) => Given;
  readonly direction?: "forward" | "left";
}

const never = (): never => {
  throw new Error("no echo");
};

const FAULTS: Readonly<Record<string, Fault>> = {
  "a bump switch": { reason: "bump", happens: ({ line }) => (line.isBumped = true) },
  "a bump switch in a turn": {
    reason: "bump",
    direction: "left",
    happens: ({ line }) => (line.isBumped = true),
  },
  "an obstacle": { reason: "obstacle", happens: ({ one }) => (one.robot.distort = () => 0.2) },
  "the emergency stop": {
    reason: "emergency_stop",
    happens: ({ one }) => (one.robot.isEmergencyStopPressed = true),
  },
  "a latch by a person": { reason: "emergency_stop", happens: ({ one }) => one.drive.stop("a person", true) },
  "a request to stop": { reason: "stop_requested", happens: ({ one }) => one.drive.stop("a person") },
  "a cancelled turn": { reason: "cancelled", happens: ({ request }) => request.abort(new Error("cancelled")) },
  "a second request": {
    reason: "conflict",
    happens: ({ one }) => one.drive.drive(REQUEST, "another", forever).catch(() => undefined),
  },
  "a clock that is set forward": {
    reason: "time_jump",
    happens: ({ one }) => one.clock.setWallClock(one.clock.now() + 3_600_000),
  },
  "a clock that is set back": { reason: "time_jump", happens: ({ one }) => one.clock.setWallClock(0) },
  "a reload or a shutdown": { reason: "out_of_service", happens: ({ one }) => void one.end() },
  "a layer that throws": {
    reason: "monitor_failed",
    happens: (scene) => (scene.broken = true),
    given: (scene) => ({
      layers: {
        ...LAYERS,
        reactiveStop: (...args) => {
          if (scene().broken) throw new Error("broken on purpose");
          return LAYERS.reactiveStop(...args);
        },
      },
    }),
  },
  "a sensor that is silent": {
    reason: "sensor_stale",
    happens: ({ one }) => (one.robot.distort = never),
    unknownMs: 1000,
  },
  "a sensor that freezes": {
    reason: "sensor_frozen",
    happens: ({ one }) => (one.robot.distort = (metres, index) => (index === 0 ? 2.5 : metres)),
    unknownMs: 400,
  },
};

const measured: Record<string, number> = {};
afterAll(() => console.log("milliseconds from the fault to the board's stop, at most:", measured));

/** Milliseconds from the fault to the stop, for a fault that happens that long after the start of the movement. */
async function reaction({ given, happens, reason, direction = "forward" }: Fault, atMs: number): Promise<number> {
  const parts: { scene?: Scene; line?: BusyLine } = {};
  await using one = await startRobot({
    ...given?.(() => parts.scene!),
    robotOf: (robot, clock) => (parts.line = new BusyLine(robot, clock)),
  });
  one.robot.obstacles.length = 0;
  const request = new AbortController();
  const scene: Scene = { one, line: parts.line!, request, broken: false };
  parts.scene = scene;
  const driven = one.drive.drive({ ...REQUEST, direction, speed: 0.3, distance: 9 }, "a test", request.signal);
  await one.clock.advance(700 + atMs);
  expect(one.monitor.moving).toBeDefined();
  expect(scene.line.stoppedMs).toBeUndefined();
  const faultMs = one.clock.monotonic();
  happens(scene);
  await one.clock.advance(2000);
  const { stopped } = await driven;
  expect(stopped).toMatchObject({ reason, confirmed: true });
  // Nothing moved it again.
  expect(one.robot.isStanding).toBe(true);
  return scene.line.stoppedMs! - faultMs;
}

test.each(Object.entries(FAULTS))("%s: the stop arrives within two control periods", async (name, fault) => {
  const late: string[] = [];
  for (let atMs = 0; atMs < PERIODS_MS; atMs += STEP_MS) {
    const ms = await reaction(fault, atMs);
    measured[name] = Math.max(measured[name] ?? 0, ms);
    if (ms > (fault.unknownMs ?? 0) + PERIODS_MS) late.push(`${ms} ms after a fault at ${atMs} ms`);
  }
  expect(late).toEqual([]);
});

test("no reaction takes longer than the board lets its motors run without a command, with time for a command on its way", () => {
  const { "a sensor that is silent": _byItsLimit, ...others } = measured;
  for (const [name, ms] of Object.entries(others))
    expect({ name, isInTime: ms <= 600 }).toEqual({ name, isInTime: true });
});
