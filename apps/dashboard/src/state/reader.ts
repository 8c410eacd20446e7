/** Data that is read from the daemon and read again once it is stale. */
import { asApiError, type ApiError } from "../client/api.ts";
import { Cell } from "../cell.ts";

export interface Loaded<Data> {
  /** Undefined: not read yet. The last data stays during a reload. */
  readonly data: Data | undefined;
  /** Error of the last read. */
  readonly error: ApiError | undefined;
  readonly isReading: boolean;
}

/** A burst of events causes one read; a busy daemon gets a pause between two. */
const DEBOUNCE_MS = 60;
const MIN_PAUSE_MS = 700;

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

  /** Reads. During a read, reads once more afterwards: the running one may be older than the change. */
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
    const delayMs = MIN_PAUSE_MS - (performance.now() - this.#endedAtMs);
    this.#timer = setTimeout(() => void this.refresh(), Math.max(DEBOUNCE_MS, delayMs));
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
