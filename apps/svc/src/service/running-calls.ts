/** The tool calls that run in one generation, so that nothing they use is shut down under them. */
export class RunningCalls {
  #running = 0;
  #whenIdle: (() => void)[] = [];

  async track<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const told of this.#whenIdle.splice(0)) told();
    }
  }

  /** Resolves when none runs. */
  idle(): Promise<void> {
    return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }
}
