/** The webhook-ids of signed requests. They outlive a reload: a changed key must not let an old request in again. */

const MAX_REMEMBERED = 100_000;

export class SeenIds {
  readonly #rememberMs: number;
  /** With the time they were seen, oldest first. */
  readonly #seen = new Map<string, number>();

  constructor(rememberMs: number) {
    this.#rememberMs = rememberMs;
  }

  /** False when the id was seen already; it is remembered from now on. */
  add(id: string, nowMs: number): boolean {
    for (const [old, at] of this.#seen) {
      if (nowMs - at <= this.#rememberMs && this.#seen.size < MAX_REMEMBERED) break;
      this.#seen.delete(old);
    }
    if (this.#seen.has(id)) return false;
    this.#seen.set(id, nowMs);
    return true;
  }

  delete(id: string): void {
    this.#seen.delete(id);
  }

  get size(): number {
    return this.#seen.size;
  }
}
