/** The only way to the robot for tools, routes and commands: each request passes the layers, and each of its ends is recorded. */
import { type Clock, type Json, type Logger, type SafetyEvent, SvcError } from "@svc/contract";
import type { Refusal } from "./causes.ts";
import type { Limits } from "./config.ts";
import type { EmergencyStop, Latch } from "./emergency-stop.ts";
import { checkMove, type Move, type MoveRequest } from "./pre-move.ts";
import type { Robot } from "./robot.ts";
import type { SafetyMonitor, Stopped } from "./safety-monitor.ts";
import type { SensorView } from "./sensing.ts";

export interface SafeDriveDeps {
  readonly monitor: SafetyMonitor;
  readonly robot: Robot;
  readonly emergencyStop: EmergencyStop;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly publish: (event: SafetyEvent) => void;
  readonly audit: (kind: string, data: Json) => Promise<void>;
  readonly layers?: { readonly checkMove: typeof checkMove };
}

export interface DriveStatus {
  /** `unmonitored`: the monitor does not run, so nothing may move. */
  readonly state: "idle" | "moving" | "latched" | "unmonitored";
  readonly move: Move | undefined;
  readonly speed: number;
  readonly latch: Latch | undefined;
  readonly lastStop: (Stopped & { readonly at: string }) | undefined;
  readonly distances: readonly SensorView[];
  readonly bumpers: readonly SensorView[];
}

export class SafeDrive {
  readonly #deps: SafeDriveDeps;
  #lastStop: DriveStatus["lastStop"];
  /** The request that is checked or driven. */
  #current: AbortController | undefined;

  constructor(deps: SafeDriveDeps) {
    this.#deps = deps;
  }

  /** Resolves when the robot stands again. Throws SAFETY_*; nothing has moved then. */
  async drive(request: MoveRequest, by: string, signal: AbortSignal): Promise<{ stopped: Stopped; move: Move }> {
    const { monitor } = this.#deps;
    signal.throwIfAborted();
    const { direction, speed, distance, seconds } = request;
    this.#publish({ type: "safety-request", direction, speed, distance, seconds, by });
    if (this.#current) {
      this.#current.abort(new SvcError("SAFETY_REFUSED", CONFLICT));
      if (monitor.moving) void monitor.stop({ reason: "conflict", message: CONFLICT }, by);
      await this.#recorded(by, request);
      throw this.#refuse({ reason: "conflict", message: CONFLICT }, by);
    }
    const current = new AbortController();
    this.#current = current;
    const cancelled = (): void => {
      current.abort(signal.reason);
      if (monitor.moving) void monitor.stop({ reason: "cancelled", message: "The request was cancelled." }, by);
    };
    signal.addEventListener("abort", cancelled, { once: true });
    try {
      const move = await this.#check(request, by, current.signal);
      current.signal.throwIfAborted();
      return { stopped: await monitor.begin(move), move };
    } finally {
      signal.removeEventListener("abort", cancelled);
      this.#current = undefined;
    }
  }

  /** Always allowed. `latch`: nothing moves before a person resets it. */
  async stop(by: string, latch = false): Promise<Stopped> {
    const { monitor } = this.#deps;
    const message = `Stopped by ${by}.`;
    this.#current?.abort(new SvcError("SAFETY_REFUSED", message));
    return await (latch ? monitor.latch(by) : monitor.stop({ reason: "stop_requested", message }, by));
  }

  /** By a person. Whether it was latched. Throws SAFETY_LATCHED while the switch is pressed. */
  async reset(by: string, signal: AbortSignal): Promise<boolean> {
    const { emergencyStop, monitor, robot, audit } = this.#deps;
    await monitor.sensing.cycle(signal);
    const isReleased = !robot.hasEmergencyStop || monitor.sensing.emergencyStopNow() === false;
    if (emergencyStop.latch && isReleased) await audit("safety-reset", { by, latched_by: emergencyStop.latch.by });
    const wasLatched = await emergencyStop.reset(isReleased);
    if (wasLatched) this.#deps.publish({ type: "safety-reset", by });
    return wasLatched;
  }

  status(): DriveStatus {
    const { monitor, emergencyStop } = this.#deps;
    const state = emergencyStop.latch
      ? "latched"
      : monitor.isAlive
        ? monitor.moving
          ? "moving"
          : "idle"
        : "unmonitored";
    const { distances, bumpers } = monitor.sensing.snapshot();
    return {
      state,
      move: monitor.moving,
      speed: monitor.speed,
      latch: emergencyStop.latch,
      lastStop: this.#lastStop,
      distances,
      bumpers,
    };
  }

  /** Of the monitor: a movement ended. */
  recordStop(stopped: Stopped): void {
    const { clock, emergencyStop } = this.#deps;
    const { reason, message, layer, travelled, confirmed, by } = stopped;
    this.#lastStop = { ...stopped, at: new Date(clock.now()).toISOString() };
    const latched = emergencyStop.latch !== undefined;
    this.#publish({ type: "safety-stop", reason, message, layer, travelled, confirmed, latched, by });
  }

  /** The layers in order, those first that need no sensor. */
  async #check(request: MoveRequest, by: string, signal: AbortSignal): Promise<Move> {
    const { monitor, emergencyStop, limits, layers } = this.#deps;
    const { direction } = request;
    await this.#recorded(by, request);
    if (emergencyStop.latch) throw this.#refuse({ reason: "latched", message: latchText(emergencyStop.latch) }, by);
    if (!monitor.isAlive) throw this.#refuse({ reason: "not_monitored", message: NOT_MONITORED }, by);
    await monitor.settled();
    await monitor.sensing.cycle(signal);
    signal.throwIfAborted();
    // Both may have changed meanwhile.
    if (emergencyStop.latch || monitor.sensing.isEmergencyStopPressed) {
      throw this.#refuse({ reason: "latched", message: "The emergency stop is pressed." }, by);
    }
    if (!monitor.isAlive) throw this.#refuse({ reason: "not_monitored", message: NOT_MONITORED }, by);
    const problem = monitor.sensing.problem(direction);
    if (problem) throw this.#refuse({ reason: "sensor_stale", message: problem.message }, by);
    if (monitor.sensing.isBumped(direction)) {
      throw this.#refuse({ reason: "bump", message: "A bump switch in that direction is pressed." }, by);
    }
    const checked = (layers?.checkMove ?? checkMove)(request, monitor.sensing.ahead(direction), limits);
    if ("reason" in checked) throw this.#refuse(checked, by);
    return checked;
  }

  /** What can't be recorded does not happen. */
  async #recorded(by: string, request: MoveRequest): Promise<void> {
    const { audit, log } = this.#deps;
    try {
      await audit("safety-request", requestLine(request, by));
    } catch (error) {
      log.error("a movement was refused, as the audit log takes no lines", { reason: (error as Error).message });
      throw this.#refuse({ reason: "not_recorded", message: "The audit log takes no lines." }, by);
    }
  }

  #refuse({ reason, message }: Refusal, by: string): SvcError {
    this.#publish({ type: "safety-refuse", reason, message, by });
    if (reason === "latched") {
      return new SvcError("SAFETY_LATCHED", message, { hint: "A person has to reset it: svc safety reset" });
    }
    return new SvcError(reason === "not_monitored" ? "SAFETY_DOWN" : "SAFETY_REFUSED", message);
  }

  /** Stops and refusals happen whether they can be recorded or not. */
  #publish(event: SafetyEvent): void {
    const { publish, audit, log } = this.#deps;
    publish(event);
    if (event.type === "safety-request") return;
    const { type, ...data } = event;
    audit(type, JSON.parse(JSON.stringify(data)) as Json).catch((error: unknown) =>
      log.error("could not add a line to the audit log", { kind: type, reason: (error as Error).message }),
    );
  }
}

const requestLine = ({ direction, speed, distance, seconds }: MoveRequest, by: string): Json => ({
  direction,
  speed,
  distance: distance ?? null,
  seconds: seconds ?? null,
  by,
});

const CONFLICT = "Two requests came at once; the robot was stopped. Wait for one movement to end before the next.";
const NOT_MONITORED = "The safety monitor does not run. It runs in the daemon: svc start";
const latchText = ({ by, at }: Latch): string => `The emergency stop was latched by ${by} at ${at}.`;
