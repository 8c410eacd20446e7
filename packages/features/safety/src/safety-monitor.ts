/**
 * Watches the robot while it stands and while it moves, and is alone in commanding its motors. In each control period it asks the layers
 * in order, and after each reading those that judge readings; the first that objects stops the movement, which only a new request starts
 * again.
 */
import type { Clock, Logger } from "@svc/contract";
import type { StopCause } from "./causes.ts";
import type { Limits } from "./config.ts";
import type { EmergencyStop } from "./emergency-stop.ts";
import { allowedSpeed, LOWEST_SPEED, type Move } from "./pre-move.ts";
import { reactiveStop } from "./reactive-stop.ts";
import { type Direction, isTurn, type Robot, wheelSpeeds } from "./robot.ts";
import { Sensing, within } from "./sensing.ts";
import { COMMAND_MS, keepAlive, Watchdog } from "./watchdog.ts";

/** 25 Hz. */
const CONTROL_MS = 40;
/** From one round of the sensors to the next while it moves, where the line is as fast; and the pause between two while it stands. */
const SENSE_MS = 20;
const SENSE_IDLE_MS = 250;
/** A command that says nothing new is repeated this often, to keep the motors alive. */
const REPEAT_MS = 100;
const STOP_TRIES = 3;
/** What is left of a way at its end. */
const ARRIVED = 0.01;

/** The layers, as functions and classes; tests break one at a time. */
export const LAYERS = { allowedSpeed, reactiveStop, keepAlive, Watchdog, Sensing };

export interface MonitorDeps {
  readonly robot: Robot;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: Limits;
  readonly emergencyStop: EmergencyStop;
  /** A movement ended, or an emergency stop was latched. Never throws. */
  readonly onStop: (stopped: Stopped) => void;
  readonly layers?: typeof LAYERS;
}

export interface Stopped extends StopCause {
  /** Metres at most. */
  readonly travelled: number;
  /** The robot has confirmed it; false: its own timer stops the motors. */
  readonly confirmed: boolean;
  /** For a person: who had the robot stopped. */
  readonly by: string;
}

interface Moving {
  readonly move: Move;
  readonly startMs: number;
  readonly startOdometer: number;
  readonly ended: PromiseWithResolvers<Stopped>;
  /** Metres a second, of the last command that was sent. */
  sent: { readonly speed: number; readonly atMs: number } | undefined;
  isSending: boolean;
}

const MONITOR = "the safety monitor";
const FAILED: StopCause = { reason: "monitor_failed", layer: 4, message: "The robot's monitor failed." };

export class SafetyMonitor {
  readonly sensing: Sensing;
  readonly #deps: MonitorDeps;
  readonly #layers: typeof LAYERS;
  readonly #watchdog: Watchdog;
  #moving: Moving | undefined;
  #isAlive = false;
  /** Of a layer that was asked between two control periods. */
  #failure: { readonly error: unknown } | undefined;
  /** The stop that runs, or ran last. */
  #stopping: Promise<unknown> = Promise.resolve();
  /** Metres that the robot has come at most, and the speed that it has at most. */
  #odometer = 0;
  #fastest = 0;
  #odometerMs: number;
  /** Ends the pause of the sensors. */
  #wake = new AbortController();

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
    this.#layers = deps.layers ?? LAYERS;
    this.#watchdog = new this.#layers.Watchdog(deps.clock);
    this.#odometerMs = deps.clock.monotonic();
    const { robot, clock, limits } = deps;
    this.sensing = new this.#layers.Sensing({
      robot,
      clock,
      limits,
      odometer: () => this.odometer,
      onReading: () => this.#heed(),
    });
  }

  /** Whether its loop runs. Nothing may move while it does not. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  get moving(): Move | undefined {
    return this.#moving?.move;
  }

  get speed(): number {
    return this.#moving?.sent?.speed ?? 0;
  }

  get odometer(): number {
    const now = this.#deps.clock.monotonic();
    this.#odometer += (this.#fastest * Math.max(0, now - this.#odometerMs)) / 1000;
    this.#odometerMs = now;
    return this.#odometer;
  }

  /** The loop. Ends with the signal, or with an error; the robot is stopped first in either case. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const end = new AbortController();
    const either = AbortSignal.any([signal, end.signal]);
    // Side by side: a slow distance sensor, or the board of one, does not hold up the switches.
    const sensing = Promise.all([
      this.#sense(either, (direction) => this.sensing.readSwitches(either, direction)),
      this.#sense(either, (direction) => this.sensing.readDistances(either, direction)),
    ]);
    this.#failure = undefined;
    this.#isAlive = true;
    try {
      for (;;) {
        await clock.sleep(CONTROL_MS, signal);
        this.#step();
      }
    } catch (error) {
      if (signal.aborted) {
        await this.#end({ reason: "out_of_service", message: "The robot's monitor was reloaded or shut down." });
      } else {
        await this.#end(FAILED);
        throw error;
      }
    } finally {
      this.#isAlive = false;
      end.abort(new Error("the monitor ended"));
      await sensing;
      await this.#stopping;
    }
  }

  /** Starts a movement that the request's checks have let through. Resolves when the robot stands again. */
  async begin(move: Move): Promise<Stopped> {
    const { clock, limits } = this.#deps;
    this.#watchdog.begin(limits);
    const moving: Moving = {
      move,
      startMs: clock.monotonic(),
      startOdometer: this.odometer,
      ended: Promise.withResolvers(),
      sent: undefined,
      isSending: false,
    };
    this.#moving = moving;
    this.sensing.begin();
    this.#wake.abort(new Error("it moves"));
    this.#wake = new AbortController();
    return await moving.ended.promise;
  }

  /** Resolves when no stop is on its way to the robot. */
  async settled(): Promise<void> {
    await this.#stopping;
  }

  /** Stops the robot, whether it moves or not. Resolves when it has confirmed, or its own timer has run out. */
  async stop(cause: StopCause, by: string): Promise<Stopped> {
    return await this.#end(cause, by);
  }

  /** After a reading, which need not wait for the next control period to stop the robot. */
  #heed(): void {
    try {
      this.#stopWhereUnsafe();
    } catch (error) {
      // The next control period ends the monitor.
      this.#failure ??= { error };
      void this.#end(FAILED);
    }
  }

  /** The layers that judge readings. Whether the robot was stopped. */
  #stopWhereUnsafe(): boolean {
    const { limits, emergencyStop } = this.#deps;
    if (this.sensing.isEmergencyStopPressed && !emergencyStop.latch) {
      void this.latch("the emergency stop switch");
      return true;
    }
    if (!this.#moving) return false;
    const { direction } = this.#moving.move;
    const surroundings = { ahead: this.sensing.ahead(direction), isBumped: this.sensing.isBumped(direction) };
    const cause = this.sensing.problem(direction) ?? this.#layers.reactiveStop(direction, surroundings, limits);
    if (cause) void this.#end(cause);
    return cause !== undefined;
  }

  /** One control period. */
  #step(): void {
    const { clock, robot, limits } = this.#deps;
    if (this.#failure) throw this.#failure.error;
    const late = this.#moving && this.#watchdog.check();
    if (late) return void this.#end(late);
    if (this.#stopWhereUnsafe()) return;
    const moving = this.#moving;
    if (!moving) return;
    const { move } = moving;
    const ahead = this.sensing.ahead(move.direction);
    const left = move.distance - (this.odometer - moving.startOdometer);
    if (left <= ARRIVED) return void this.#end({ reason: "done", message: "The way is done." });
    if (clock.monotonic() - moving.startMs >= move.durationMs) {
      return void this.#end({ reason: "done", message: "The time is over." });
    }
    const free = isTurn(move.direction) || ahead === undefined ? Number.POSITIVE_INFINITY : ahead - limits.minDistance;
    const granted = this.#layers.allowedSpeed(move.direction, move.speed, ahead, limits);
    const command = this.#layers.keepAlive(granted, Math.min(free, left));
    if (command.speed < LOWEST_SPEED) {
      const isArrived = left <= 2 * ARRIVED;
      return void this.#end(
        isArrived
          ? { reason: "done", message: "The way is done." }
          : { reason: "obstacle", layer: 1, message: "The free way is used up." },
      );
    }
    const sent = moving.sent;
    const isNews = !sent || Math.abs(sent.speed - command.speed) > 0.05 * sent.speed;
    if (moving.isSending || (!isNews && clock.monotonic() - sent.atMs < REPEAT_MS)) return;
    void this.#send(moving, robot, command);
  }

  /** Holds the robot until a person resets it. */
  async latch(by: string): Promise<Stopped> {
    const { emergencyStop, clock, log } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    emergencyStop.engage({ by, at }).catch((error: unknown) =>
      log.error("the emergency stop is latched, but could not be stored; it does not outlive a restart", {
        reason: (error as Error).message,
      }),
    );
    return await this.#end({ reason: "emergency_stop", layer: 5, message: `Emergency stop by ${by}.` }, by);
  }

  async #send(
    moving: Moving,
    robot: Robot,
    { speed, ttlMs }: { readonly speed: number; readonly ttlMs: number },
  ): Promise<void> {
    const { clock } = this.#deps;
    const before = moving.sent?.speed ?? 0;
    moving.isSending = true;
    moving.sent = { speed, atMs: clock.monotonic() };
    // Until it is confirmed either speed may be in force.
    this.#setFastest(Math.max(before, speed));
    try {
      await within(clock, COMMAND_MS, undefined, (signal) =>
        robot.setMotors(wheelSpeeds(moving.move.direction, speed), ttlMs, signal),
      );
      if (this.#moving === moving) this.#setFastest(speed);
    } catch (error) {
      if (this.#moving !== moving) return;
      const message = `The robot did not take a command: ${(error as Error).message.replace(/\.$/, "")}.`;
      void this.#end({ reason: "board_lost", layer: 4, message });
    } finally {
      moving.isSending = false;
    }
  }

  #setFastest(speed: number): void {
    void this.odometer;
    this.#fastest = speed;
  }

  async #end(cause: StopCause, by: string = MONITOR): Promise<Stopped> {
    const moving = this.#moving;
    this.#moving = undefined;
    const stopping = this.#stopMotors();
    this.#stopping = stopping;
    const confirmed = await stopping;
    const travelled = moving ? this.odometer - moving.startOdometer : 0;
    const stopped: Stopped = { ...cause, travelled, confirmed, by };
    if (moving || cause.reason === "emergency_stop" || by !== MONITOR) this.#deps.onStop(stopped);
    moving?.ended.resolve(stopped);
    return stopped;
  }

  /** A stop may be repeated: it does no harm. */
  async #stopMotors(): Promise<boolean> {
    const { clock, robot, log } = this.#deps;
    let failure = "";
    for (let tries = 0; tries < STOP_TRIES; tries += 1) {
      try {
        await within(clock, COMMAND_MS, undefined, (signal) => robot.stopMotors(signal));
        if (!this.#moving) this.#setFastest(0);
        return true;
      } catch (error) {
        failure = (error as Error).message;
      }
    }
    log.warn("the robot did not confirm a stop; its own timer stops the motors", { reason: failure });
    if (!this.#moving) this.#setFastest(0);
    return false;
  }

  async #sense(signal: AbortSignal, read: (direction: Direction | undefined) => Promise<void>): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      const startMs = clock.monotonic();
      await read(this.#moving?.move.direction);
      const left = Math.max(1, startMs + SENSE_MS - clock.monotonic());
      const pause = AbortSignal.any([signal, this.#wake.signal]);
      await clock.sleep(this.#moving ? left : SENSE_IDLE_MS, pause).catch(() => undefined);
    }
  }
}
