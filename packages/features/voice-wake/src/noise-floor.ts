/** The background level of a room: the quietest moments of the last seconds, such as pauses between words. */
export class NoiseFloor {
  readonly #window: number;
  readonly #levels: number[] = [];
  #smoothed = 0;

  /** `window`: in frames. */
  constructor(window: number) {
    this.#window = window;
  }

  get level(): number {
    return this.#levels.length === 0 ? 0 : Math.min(...this.#levels);
  }

  /** The RMS of one frame; a single quiet one is no floor. */
  learn(level: number): void {
    this.#smoothed = this.#levels.length === 0 ? level : this.#smoothed * 0.6 + level * 0.4;
    this.#levels.push(this.#smoothed);
    if (this.#levels.length > this.#window) this.#levels.shift();
  }
}
