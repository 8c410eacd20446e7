/** Who may be at a service of speech: a few at a time, for each has its recording in memory, twice. */
import { TurnQueue } from "../../turn/turn-queue.ts";

const AT_ONCE = 8;

export class SpeechPlaces {
  readonly #places = new TurnQueue(AT_ONCE);
  #count = 0;

  /** Does `work` when there is a place. Rejects with the signal's reason when it is aborted before, or with BUSY. */
  whenFree<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#count += 1;
    return this.#places.run(String(this.#count), work, signal);
  }
}
