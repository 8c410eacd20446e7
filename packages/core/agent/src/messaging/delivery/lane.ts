/** The deliveries of one conversation, as numbers: what they say is read from disk when their turn has come. */
export class Lane {
  readonly key: string;
  readonly channel: string;
  /** Ascending: they go in the order in which they were written. */
  readonly #waiting: number[] = [];
  /** What is being sent, and what calls it off. */
  current: { readonly n: number; readonly stop: AbortController } | undefined;
  /** After a failure: cancels the timer that ends the rest. */
  cancelRest: (() => void) | undefined;
  /** Stands among those of its channel that could send now. */
  isReady = false;

  constructor(key: string, channel: string) {
    this.key = key;
    this.channel = channel;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** With the one that is being sent: it may come back. */
  get size(): number {
    return this.#waiting.length + (this.current ? 1 : 0);
  }

  get first(): number | undefined {
    return this.#waiting[0];
  }

  get isIdle(): boolean {
    return this.current === undefined && this.cancelRest === undefined && !this.isReady;
  }

  /** The first one becomes `current`. */
  take(): NonNullable<Lane["current"]> {
    return (this.current = { n: this.#waiting.shift()!, stop: new AbortController() });
  }

  /** One that is there already is not added again. */
  add(n: number): void {
    const at = this.#placeOf(n);
    if (this.#waiting[at] !== n) this.#waiting.splice(at, 0, n);
  }

  /** Tells whether it was the first. */
  remove(n: number): boolean {
    const at = this.#placeOf(n);
    if (this.#waiting[at] !== n) return false;
    this.#waiting.splice(at, 1);
    return at === 0;
  }

  /** From the end, where nearly all of them belong. */
  #placeOf(n: number): number {
    let at = this.#waiting.length;
    while (at > 0 && this.#waiting[at - 1]! >= n) at -= 1;
    return at;
  }
}
