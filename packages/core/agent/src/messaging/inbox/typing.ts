/** "… is writing" for as long as somebody does. */
export class Typing {
  readonly #show: () => () => void;
  #hide: () => void;
  #isOver = false;

  /** `show` returns what ends it. */
  constructor(show: () => () => void) {
    this.#show = show;
    this.#hide = show();
  }

  /** Whoever waits for a person writes nothing. */
  async whileSilent<T>(wait: () => Promise<T>): Promise<T> {
    this.#hide();
    try {
      return await wait();
    } finally {
      if (!this.#isOver) this.#hide = this.#show();
    }
  }

  end(): void {
    this.#isOver = true;
    this.#hide();
  }
}
