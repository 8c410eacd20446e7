/** The runs that somebody is at, each once. */
import { type Clock, postponed, SvcError } from "@svc/contract";
import { inScope, Ongoing } from "@svc/kernel";
import type { Drive } from "./drive.ts";

interface Driver {
  readonly controller: AbortController;
  /** Something changed while it ran: it looks again before it ends. */
  again: boolean;
}

/** After a shutdown's patience is over: what was called off gets so long to note it. */
const LAST_WORDS_MS = 2_000;

export interface DriversOptions {
  readonly clock: Clock;
  /** Takes a run as far as it goes. Never rejects. */
  readonly drive: (drive: Drive) => Promise<void>;
  /** Of one that was cancelled under it. Never rejects. */
  readonly afterCancel: (runId: string) => Promise<void>;
}

export class Drivers {
  readonly #options: DriversOptions;
  readonly #drivers = new Map<string, Driver>();
  readonly #ongoing = new Ongoing();
  readonly #stopping = new AbortController();
  #isStarted = false;

  constructor(options: DriversOptions) {
    this.#options = options;
  }

  /** From here on runs are taken up. */
  start(): void {
    this.#isStarted = true;
  }

  wake(runId: string): void {
    if (!this.#isStarted || this.#stopping.signal.aborted) return;
    const driver = this.#drivers.get(runId);
    if (driver) driver.again = true;
    // A run outlives whoever has started it, or said yes to its next step.
    else void inScope({}, () => this.#ongoing.during(() => this.#run(runId)));
  }

  /** Its end is on disk: what still runs of it is called off. */
  cancel(runId: string, why: string): void {
    this.#drivers.get(runId)?.controller.abort(new SvcError("TURN_CANCELLED", why));
  }

  /** Begins nothing more. What runs has `graceMs` to end, and is called off then. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const { clock } = this.#options;
    const late = Promise.withResolvers<void>();
    const cancels = [clock.after(graceMs, () => this.#callOff()), clock.after(graceMs + LAST_WORDS_MS, late.resolve)];
    await Promise.race([this.#ongoing.idle(), late.promise]);
    for (const cancel of cancels) cancel();
    this.#callOff();
  }

  #callOff(): void {
    for (const { controller } of this.#drivers.values()) controller.abort(postponed());
  }

  async #run(runId: string): Promise<void> {
    const driver: Driver = { controller: new AbortController(), again: true };
    this.#drivers.set(runId, driver);
    const { signal } = driver.controller;
    const stopping = this.#stopping.signal;
    while (driver.again && !stopping.aborted) {
      driver.again = false;
      await this.#options.drive({ runId, signal, stopping });
    }
    if (signal.aborted && !stopping.aborted) await this.#options.afterCancel(runId);
    this.#drivers.delete(runId);
  }
}
