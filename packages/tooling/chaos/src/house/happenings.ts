/** What happens around the daemon, counted, so that a kill can be placed at it. */
import type { Happening } from "../plan/kills.ts";

export class Happenings {
  readonly #waiting = new Map<Happening, { left: number; readonly resolve: () => void }>();

  note(happening: Happening): void {
    const waiting = this.#waiting.get(happening);
    if (!waiting) return;
    waiting.left -= 1;
    if (waiting.left > 0) return;
    this.#waiting.delete(happening);
    waiting.resolve();
  }

  /** Resolves when so many more of them have happened. One waits at a time. */
  next(happening: Happening, count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(happening, { left: count, resolve }));
  }
}
