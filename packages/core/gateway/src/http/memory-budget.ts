/**
 * A bound on memory that clients make the service hold, over all of them together: bodies that are still coming in, answers
 * that are not read, messages of WebSockets that have no end yet. Each of them may have its share for as long as it likes to
 * take, so a bound on one of them bounds nothing. Past the bound the oldest holder gives up its share: honest work ends
 * within moments.
 */
import { type Link, LinkedList } from "@svc/kernel";

const MOST_BYTES = 64 * 1_048_576;

export class MemoryRoom {
  readonly #most: number;
  readonly #places = new LinkedList<Place>();
  #bytes = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a holder. `giveUp` is called at most once, after its share was taken away. */
  enter(giveUp: () => void): Place {
    const place = new Place(giveUp);
    place.link = this.#places.add(place);
    return place;
  }

  /** Sets how many bytes the holder has now. */
  hold(place: Place, bytes: number): void {
    if (place.link === undefined) return;
    this.#bytes += bytes - place.bytes;
    place.bytes = bytes;
    // The last one stays, whatever its size: a body larger than the room could never come in otherwise.
    while (this.#bytes > this.#most && this.#places.size > 1) {
      const oldest = this.#places.first!;
      this.leave(oldest);
      oldest.giveUp();
    }
  }

  leave(place: Place): void {
    if (place.link === undefined) return;
    this.#places.delete(place.link);
    this.#bytes -= place.bytes;
    place.link = undefined;
  }
}

export class Place {
  readonly giveUp: () => void;
  bytes = 0;
  link: Link<Place> | undefined;

  constructor(giveUp: () => void) {
    this.giveUp = giveUp;
  }
}
