/** One of the places for those that run. Whoever waits for a person lends it: four questions that nobody answers would stop everybody. */
export interface Places {
  /** False when so many are lent that this one is kept. */
  giveBack(): boolean;
  /** Rejects with the signal's reason when it is aborted before there is one. */
  takeAgain(signal: AbortSignal): Promise<void>;
}

export class Place {
  readonly #places: Places;
  isHeld = true;

  constructor(places: Places) {
    this.#places = places;
  }

  /** Runs `wait` without it, and has it again after that; rejects with the signal's reason when it is aborted by then. */
  async lend<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (!this.isHeld || !this.#places.giveBack()) return wait();
    this.isHeld = false;
    try {
      return await wait();
    } finally {
      await this.#places.takeAgain(signal);
      this.isHeld = true;
    }
  }
}
