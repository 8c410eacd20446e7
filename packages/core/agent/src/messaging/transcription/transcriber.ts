/** Who may be at the service that transcribes: a few at a time, for each has its recording in memory, twice. */
import { Lanes } from "../../turn/lanes.ts";

const AT_ONCE = 8;

export class Transcriber {
  readonly #places = new Lanes(AT_ONCE);

  /** Begins `work` when there is a place. Rejects with the signal's reason when it is aborted before, or with BUSY. */
  whenFree<T>(n: number, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#places.run(String(n), work, signal);
  }
}
