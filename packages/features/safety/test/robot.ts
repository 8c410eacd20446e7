/** A simulated robot with its monitor and its drive, on a clock that a test moves. */
import type { Json, SafetyEvent, StateStore } from "@svc/contract";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock, type FakeClock } from "@svc/testkit/fake-clock";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import * as v from "valibot";
import { limitsOf, safetyConfig } from "../src/config.ts";
import { EmergencyStop } from "../src/emergency-stop.ts";
import type { checkMove, MoveRequest } from "../src/pre-move.ts";
import type { Robot } from "../src/robot.ts";
import { SafeDrive } from "../src/safe-drive.ts";
import { type LAYERS, SafetyMonitor, type Stopped } from "../src/safety-monitor.ts";
import { type LineConditions, SimulatedRobot } from "../src/simulator.ts";

export interface Given {
  readonly section?: Readonly<Record<string, unknown>>;
  readonly seed?: number;
  readonly line?: LineConditions;
  readonly state?: StateStore;
  readonly layers?: typeof LAYERS & { readonly checkMove?: typeof checkMove };
  readonly audit?: (kind: string, data: Json) => Promise<void>;
  /** The robot as the monitor has it. Default: the simulated one itself. */
  readonly robotOf?: (simulated: SimulatedRobot, clock: FakeClock) => Robot;
  /** Layer 5; another one is broken. */
  readonly EmergencyStop?: typeof EmergencyStop;
}

export interface TestRobot extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly robot: SimulatedRobot;
  readonly monitor: SafetyMonitor;
  readonly drive: SafeDrive;
  readonly events: SafetyEvent[];
  readonly audited: { readonly kind: string; readonly data: Json }[];
  /** Asks for a movement, and lets time pass until it ended. */
  move(request: Partial<MoveRequest>): Promise<Stopped>;
  /** The monitor's loop. */
  readonly running: Promise<void>;
  /** The monitor goes out of service. */
  end(): Promise<void>;
}

export const REQUEST: MoveRequest = { direction: "forward", speed: 0.5, distance: 1, seconds: undefined };
export const forever = new AbortController().signal;

/** The monitor runs, and has read its sensors once. */
export async function startRobot(given: Given = {}): Promise<TestRobot> {
  const { section = {}, seed = 1, line, state = memorySecrets(), layers } = given;
  const clock = fakeClock();
  const limits = limitsOf(v.parse(safetyConfig, { drive: { backend: "simulated" }, ...section }));
  const simulated = new SimulatedRobot({ clock, seed, ...(line && { line }) });
  const robot = given.robotOf?.(simulated, clock) ?? simulated;
  const log = captureLogger();
  const events: SafetyEvent[] = [];
  const audited: { readonly kind: string; readonly data: Json }[] = [];
  const audit = given.audit ?? (async (kind: string, data: Json) => void audited.push({ kind, data }));
  const emergencyStop = new (given.EmergencyStop ?? EmergencyStop)(state);
  await emergencyStop.load();
  const onStop = (stopped: Stopped): void => drive.recordStop(stopped);
  const monitor = new SafetyMonitor({ robot, clock, log, limits, emergencyStop, onStop, ...(layers && { layers }) });
  const publish = (event: SafetyEvent): void => void events.push(event);
  const drive: SafeDrive = new SafeDrive({
    monitor,
    robot,
    emergencyStop,
    limits,
    clock,
    log,
    publish,
    audit,
    ...(layers?.checkMove && { layers: { checkMove: layers.checkMove } }),
  });
  const stop = new AbortController();
  const running = monitor.run(stop.signal);
  running.catch(() => undefined);
  await clock.advance(300);
  const end = async (): Promise<void> => {
    stop.abort(new Error("the service stops"));
    await clock.advance(2000);
    await running.catch(() => undefined);
  };
  return {
    clock,
    robot: simulated,
    monitor,
    drive,
    events,
    audited,
    running,
    end,
    move: (request) =>
      passing(
        clock,
        drive.drive({ ...REQUEST, ...request }, "a test", forever).then((one) => one.stopped),
      ),
    [Symbol.asyncDispose]: end,
  };
}

/** Lets time pass until `work` is over. */
export async function passing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const over = work.finally(() => (state.isOver = true));
  over.catch(() => undefined);
  for (let ms = 0; !state.isOver && ms < 120_000; ms += 100) await clock.advance(100);
  if (!state.isOver) throw new Error("not over after 120 s");
  return await over;
}
