/** The connection to one board: opened with its first command, one command at a time, its dialect found by asking. */
import { type Clock, SvcError } from "@svc/contract";
import type { Dialect, Protocol } from "./dialect/dialect.ts";
import { greetFirmata } from "./dialect/firmata.ts";
import { greetJson } from "./dialect/json-lines.ts";
import { greetMicroPython } from "./dialect/micropython.ts";
import type { Link } from "./link/link.ts";
import { unlessAborted, withDeadline } from "@svc/kit/async";

const COMMAND_MS = 5000;
/** How long each dialect is waited for in the first round; twice as long in each further one, as some boards and machines are slow. */
const FIRST_GREETING_MS = 300;
/** Three rounds of all dialects: an Arduino resets when its port is opened, and starts for two seconds. */
const DETECTION_MS = 5000;
/** Of ordinary commands. */
const MOST_WAITING = 16;
/** So many commands of sensors go before an ordinary one that waits: a robot that moves reads them all the time. */
const SENSORS_FIRST = 4;
/** Commands get the last error again for so long, then for twice as long. Nothing waits, and a board has one client: no jitter. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8000;
/** A board with a REPL is let go soon, so that a person can have it; others keep their pins only while the port is open. */
const REPL_IDLE_MS = 2000;

/** What goes first while several commands wait: those of motors, then those of a robot's sensors and switches. */
export type Urgency = "motors" | "sensors" | "ordinary";

export interface ConnectionOptions {
  /** Alias of the board, for messages. */
  readonly what: string;
  readonly protocols: readonly Protocol[];
  readonly clock: Clock;
  /** The speed of a dialect; the same for all dialects if the link has no speed. */
  speedOf(protocol: Protocol): number;
  open(speed: number, signal: AbortSignal): Promise<Link>;
}

interface Open {
  readonly link: Link;
  readonly dialect: Dialect;
}

export class BoardConnection {
  readonly #options: ConnectionOptions;
  readonly #queues: Readonly<Record<Urgency, (() => Promise<void>)[]>> = { motors: [], sensors: [], ordinary: [] };
  #sensorsInARow = 0;
  #isWorking = false;
  /** That run or wait. */
  #pending = 0;
  #ordinary = 0;
  #closing: PromiseWithResolvers<void> | undefined;
  #open: Open | undefined;
  #isClosed = false;
  #protocol: Protocol | undefined;
  #failure: { readonly error: SvcError; readonly retryAtMs: number; readonly delayMs: number } | undefined;
  #cancelIdle: () => void = () => {};

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** What the board spoke last. */
  get protocol(): Protocol | undefined {
    return this.#protocol;
  }

  get isBusy(): boolean {
    return this.#pending > 0;
  }

  /**
   * Calls `work` at most once. Rejects with its error, with BOARD_* if the board can't be reached, and with the signal's reason
   * while it waits in the queue.
   */
  async run<T>(
    signal: AbortSignal,
    work: (dialect: Dialect, signal: AbortSignal) => Promise<T>,
    urgency: Urgency = "ordinary",
  ): Promise<T> {
    const { what } = this.#options;
    if (this.#closing) throw unused(what);
    const isOrdinary = urgency === "ordinary";
    // A flood of reads must not keep a robot from its stop.
    if (isOrdinary && this.#ordinary >= MOST_WAITING) {
      throw new SvcError("BOARD_BUSY", `${MOST_WAITING} commands wait for ${what}; try again later.`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#pending += 1;
    if (isOrdinary) this.#ordinary += 1;
    this.#queues[urgency].push(async () => {
      await this.#alone(signal, work).then(resolve, reject);
      this.#pending -= 1;
      if (isOrdinary) this.#ordinary -= 1;
    });
    promise.catch(() => undefined);
    void this.#work();
    // Who gives up does not wait until the board was interrupted.
    return await unlessAborted(promise, signal);
  }

  /** One command after the other, until none waits. */
  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let next = this.#next(); next; next = this.#next()) await next();
    this.#isWorking = false;
    if (!this.#closing || this.#isClosed) return;
    this.#isClosed = true;
    await this.#letGo().then(this.#closing.resolve, this.#closing.reject);
  }

  #next(): (() => Promise<void>) | undefined {
    const { motors, sensors, ordinary } = this.#queues;
    if (motors.length > 0) return motors.shift();
    const isTurnOfOrdinary = ordinary.length > 0 && (sensors.length === 0 || this.#sensorsInARow >= SENSORS_FIRST);
    this.#sensorsInARow = isTurnOfOrdinary ? 0 : this.#sensorsInARow + 1;
    return (isTurnOfOrdinary ? ordinary : sensors).shift();
  }

  /** Forgets why the last try failed: the board was plugged in again. */
  retry(): void {
    this.#failure = undefined;
  }

  /** After the commands that were given; no other one begins. */
  async close(): Promise<void> {
    this.#closing ??= Promise.withResolvers();
    void this.#work();
    await this.#closing.promise;
  }

  async #alone<T>(signal: AbortSignal, work: (dialect: Dialect, signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    this.#cancelIdle();
    const { clock, what } = this.#options;
    const { link, dialect } = await this.#opened(signal);
    const error = (): SvcError =>
      new SvcError(
        "BOARD_TIMEOUT",
        `${what} did not answer within ${COMMAND_MS / 1000} s. It may have acted; the command is not repeated.`,
      );
    try {
      return await (dialect.code
        ? work(dialect, signal)
        : withDeadline({ clock, timeoutMs: COMMAND_MS, signal, error }, (limited) => work(dialect, limited)));
    } finally {
      if (!dialect.isSettled || link.incoming.hasEnded) await this.#letGo();
      else if (dialect.code) this.#cancelIdle = clock.after(REPL_IDLE_MS, () => void this.#letGoIfIdle());
    }
  }

  async #letGoIfIdle(): Promise<void> {
    if (!this.isBusy) await this.#letGo();
  }

  async #letGo(): Promise<void> {
    this.#cancelIdle();
    const open = this.#open;
    this.#open = undefined;
    if (open?.dialect.isSettled) await open.dialect.release?.().catch(() => undefined);
    await open?.link.close();
  }

  async #opened(signal: AbortSignal): Promise<Open> {
    const { clock, what } = this.#options;
    if (this.#isClosed) throw unused(what);
    // The board may have gone since the last request.
    if (this.#open?.link.incoming.hasEnded) await this.#letGo();
    if (this.#open) return this.#open;
    if (this.#failure && clock.monotonic() < this.#failure.retryAtMs) throw this.#failure.error;
    try {
      this.#open = await this.#connect(signal);
      this.#failure = undefined;
      this.#protocol = this.#open.dialect.protocol;
      return this.#open;
    } catch (error) {
      if (error instanceof SvcError && !signal.aborted) {
        const delayMs = Math.min((this.#failure?.delayMs ?? FIRST_RETRY_MS / 2) * 2, LAST_RETRY_MS);
        this.#failure = { error, delayMs, retryAtMs: clock.monotonic() + delayMs };
      }
      throw error;
    }
  }

  /** The dialect that was spoken before comes first. */
  async #connect(signal: AbortSignal): Promise<Open> {
    const { clock, what, protocols, speedOf, open } = this.#options;
    const order = protocols.toSorted((a, b) => Number(b === this.#protocol) - Number(a === this.#protocol));
    const deadline = clock.monotonic() + DETECTION_MS;
    let link: Link | undefined;
    let garbage: SvcError | undefined;
    let speed: number | undefined;
    for (
      let greetingMs = FIRST_GREETING_MS;
      greetingMs === FIRST_GREETING_MS || clock.monotonic() < deadline;
      greetingMs *= 2
    ) {
      for (const protocol of order) {
        if (link && (link.incoming.hasEnded || speed !== speedOf(protocol))) {
          await link.close();
          link = undefined;
        }
        link ??= await withDeadline(
          {
            clock,
            timeoutMs: COMMAND_MS,
            signal,
            error: () => new SvcError("BOARD_LOST", `${what} can't be reached in time.`),
          },
          (limited) => open(speedOf(protocol), limited),
        );
        speed = speedOf(protocol);
        try {
          const dialect = await this.#greet(link, { protocol, ms: greetingMs }, signal);
          if (dialect) return { link, dialect };
        } catch (error) {
          if (signal.aborted || !(error instanceof SvcError) || error.code !== "BOARD_FAILED") {
            await link.close();
            throw error;
          }
          garbage = error;
        }
      }
    }
    await link?.close();
    throw (
      garbage ??
      new SvcError(
        "BOARD_TIMEOUT",
        `${what} answers neither in ${protocols.map((one) => NAMES[one]).join(" nor in ")}.`,
        {
          hint: "Put a firmware on the board that svc knows, and check the baud rate: docs/guide/boards.md",
        },
      )
    );
  }

  async #greet(
    link: Link,
    { protocol, ms }: { readonly protocol: Protocol; readonly ms: number },
    signal: AbortSignal,
  ): Promise<Dialect | undefined> {
    const { clock, what } = this.#options;
    const silence = new SvcError("BOARD_TIMEOUT");
    try {
      return await withDeadline({ clock, timeoutMs: ms, signal, error: () => silence }, (limited) => {
        if (protocol === "json") return greetJson(link, what, limited);
        if (protocol === "firmata") return greetFirmata(link, what, limited);
        return greetMicroPython(link, { what, clock }, limited);
      });
    } catch (error) {
      if (error === silence) return undefined;
      throw error;
    }
  }
}

const unused = (what: string): SvcError =>
  new SvcError("BOARD_LOST", `${what} is not in use any more; the config was changed.`);

const NAMES: Readonly<Record<Protocol, string>> = {
  micropython: "MicroPython",
  firmata: "Firmata",
  json: "JSON lines",
};
