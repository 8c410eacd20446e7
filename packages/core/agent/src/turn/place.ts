/**
 * A permit to ask models and run tools. A turn lends it while it waits for a person: four questions without an answer would stop
 * all turns.
 */
export interface Places {
  /** False when so many are lent that this one is kept. */
  giveBack(): boolean;
  /** Rejects with the signal's reason when it is aborted before there is one. */
  takeAgain(signal: AbortSignal): Promise<void>;
}

export class Place {
  readonly #places: Places;
  isHeld = true;
  /** It was given back for good. */
  isOver = false;

  constructor(places: Places) {
    this.#places = places;
  }

  /** The rest is a wait for the disk. Turns that end together are one commit, however few may run at the same time. */
  giveUp(): void {
    if (!this.isHeld || !this.#places.giveBack()) return;
    this.isHeld = false;
    this.isOver = true;
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
