/** Something that is read from the service, shown, and read again when it has become stale. */
import { asApiError, type ApiError } from "../client/api.ts";
import { Cell } from "./cell.ts";

export interface Loaded<Data> {
  /** Undefined: not read yet. What was read last stays while it is read again. */
  readonly data: Data | undefined;
  /** Why the last reading failed. */
  readonly error: ApiError | undefined;
  readonly isReading: boolean;
}

/** A burst of events is one reading, and a busy service is not asked all the time. */
const SOON_MS = 60;
const REST_MS = 700;

export class Reader<Data> {
  readonly state = new Cell<Loaded<Data>>({ data: undefined, error: undefined, isReading: true });
  readonly #read: (signal: AbortSignal) => Promise<Data>;
  readonly #stopped = new AbortController();
  #isReading = false;
  #isStale = false;
  #endedAtMs = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: (signal: AbortSignal) => Promise<Data>) {
    this.#read = read;
  }

  /** Reads; while it is being read, once more afterwards: what comes now may be older than what made it stale. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isReading) {
      this.#isStale = true;
      return;
    }
    this.#isReading = true;
    this.#isStale = false;
    this.state.set({ ...this.state.value, isReading: true });
    const outcome = await this.#outcome();
    this.#isReading = false;
    this.#endedAtMs = performance.now();
    if (this.#stopped.signal.aborted) return;
    this.state.set({ data: this.state.value.data, isReading: false, error: undefined, ...outcome });
    if (this.#isStale) this.stale();
  }

  stale(): void {
    if (this.#isReading) this.#isStale = true;
    if (this.#isReading || this.#timer !== undefined || this.#stopped.signal.aborted) return;
    const delayMs = REST_MS - (performance.now() - this.#endedAtMs);
    this.#timer = setTimeout(() => void this.refresh(), Math.max(SOON_MS, delayMs));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopped.abort();
  }

  async #outcome(): Promise<Partial<Loaded<Data>>> {
    try {
      return { data: await this.#read(this.#stopped.signal) };
    } catch (error) {
      return { error: asApiError(error) };
    }
  }
}
