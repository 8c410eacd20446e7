/** Who may be at a service of speech: a few at a time, for each has its recording in memory, twice. */
import { Semaphore } from "@svc/kit/async";

const AT_ONCE = 8;

export class SpeechPlaces {
  readonly #places = new Semaphore(AT_ONCE);

  /** Does `work` when there is a place. Rejects with the signal's reason when it is aborted. */
  whenFree<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#places.run(work, signal);
  }
}
