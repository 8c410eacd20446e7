/**
 * A bound on memory that clients make the service hold, over all of them together: bodies that are still coming in, answers
 * that are not read, messages of WebSockets that have no end yet. Each of them may have its share for as long as it likes to
 * take, so a bound on one of them bounds nothing. Past the bound the oldest holder gives up its share: honest work ends
 * within moments.
 */
import { type Link, LinkedList } from "@svc/runtime";

const MOST_BYTES = 64 * 1_048_576;

export class MemoryBudget {
  readonly #most: number;
  readonly #places = new LinkedList<MemoryHolder>();
  #bytes = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a holder. `giveUp` is called at most once, after its share was taken away. */
  join(giveUp: () => void): MemoryHolder {
    const place = new MemoryHolder(giveUp);
    place.link = this.#places.add(place);
    return place;
  }

  /** Sets how many bytes the holder has now. */
  hold(place: MemoryHolder, bytes: number): void {
    if (place.link === undefined) return;
    this.#bytes += bytes - place.bytes;
    place.bytes = bytes;
    // The last body stays at any size: otherwise a body larger than the budget could never arrive.
    while (this.#bytes > this.#most && this.#places.size > 1) {
      const oldest = this.#places.first!;
      this.leave(oldest);
      oldest.giveUp();
    }
  }

  leave(place: MemoryHolder): void {
    if (place.link === undefined) return;
    this.#places.delete(place.link);
    this.#bytes -= place.bytes;
    place.link = undefined;
  }
}

export class MemoryHolder {
  readonly giveUp: () => void;
  bytes = 0;
  link: Link<MemoryHolder> | undefined;

  constructor(giveUp: () => void) {
    this.giveUp = giveUp;
  }
}
