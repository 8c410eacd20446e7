/** The connection to one board: opened with its first command, one command at a time, its dialect found by asking. */
import { type Clock, SvcError } from "@svc/contract";
import type { Dialect, Protocol } from "./dialect/dialect.ts";
import { greetFirmata } from "./dialect/firmata.ts";
import { greetJson } from "./dialect/json-lines.ts";
import { greetMicroPython } from "./dialect/micropython.ts";
import { type Link, withTimeout } from "./link/link.ts";
import { unlessAborted } from "@svc/kit";

const COMMAND_MS = 5000;
/** How long each dialect is waited for in the first round; twice as long in each further one, as some boards and machines are slow. */
const FIRST_GREETING_MS = 300;
/** Three rounds of all dialects: an Arduino resets when its port is opened, and starts for two seconds. */
const DETECTION_MS = 5000;
const MOST_WAITING = 16;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8000;
/** A board with a REPL is let go soon, so that a person can have it; others keep their pins only while the port is open. */
const REPL_IDLE_MS = 2000;

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
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
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
    return this.#waiting > 0;
  }

  /**
   * Calls `work` at most once. Rejects with its error, with BOARD_* if the board can't be reached, and with the signal's reason
   * while it waits in the queue.
   */
  async run<T>(signal: AbortSignal, work: (dialect: Dialect, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { what } = this.#options;
    if (this.#waiting >= MOST_WAITING) {
      throw new SvcError("BOARD_BUSY", `${MOST_WAITING} commands wait for ${what}; try again later.`);
    }
    this.#waiting += 1;
    const mine = this.#tail.then(() => this.#alone(signal, work)).finally(() => (this.#waiting -= 1));
    this.#tail = mine.catch(() => undefined);
    // Who gives up does not wait until the board was interrupted.
    return await unlessAborted(mine, signal);
  }

  /** Forgets why the last try failed: the board was plugged in again. */
  retry(): void {
    this.#failure = undefined;
  }

  /** After the commands that were given; no other one begins. */
  async close(): Promise<void> {
    const last = this.#tail.then(async () => {
      this.#isClosed = true;
      await this.#letGo();
    });
    this.#tail = last;
    await last;
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
        : withTimeout({ clock, ms: COMMAND_MS, signal, error }, (limited) => work(dialect, limited)));
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
    if (this.#isClosed) throw new SvcError("BOARD_LOST", `${what} is not in use any more; the config was changed.`);
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
        link ??= await withTimeout(
          {
            clock,
            ms: COMMAND_MS,
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
      return await withTimeout({ clock, ms, signal, error: () => silence }, (limited) => {
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

const NAMES: Readonly<Record<Protocol, string>> = {
  micropython: "MicroPython",
  firmata: "Firmata",
  json: "JSON lines",
};
