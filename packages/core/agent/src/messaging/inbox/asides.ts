/**
 * What only waits for the server that has a message's files, or for the one that transcribes, takes no place of a turn: when
 * it hangs, sixteen people who sent a picture would hold up everybody on every channel.
 */
export type Aside = <T>(work: () => Promise<T>) => Promise<T>;

/** Of one channel at the same time; each has a connection and a file open. */
const MAX_ASIDE = 64;

export class Asides {
  readonly #byChannel = new Map<string, number>();

  /** False when there are as many of the channel as may be: this one keeps the place that it has. */
  enter(channel: string): boolean {
    const others = this.#byChannel.get(channel) ?? 0;
    if (others >= MAX_ASIDE) return false;
    this.#byChannel.set(channel, others + 1);
    return true;
  }

  leave(channel: string): void {
    this.#byChannel.set(channel, this.#byChannel.get(channel)! - 1);
  }
}
