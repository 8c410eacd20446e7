/**
 * How much of bodies that are still coming in may be held in memory, of all requests together. Whoever proves himself by a
 * signature over the whole body has proved nothing until it is here: a stranger could open every connection there is, send
 * all of a body but its last byte on each, and have a gigabyte of ours for as long as a request may take. Past the most, the
 * body that has been coming for the longest goes: one that is sent in earnest is here within moments.
 */
import { type Link, LinkedList } from "@svc/kernel";

const MOST_BYTES = 64 * 1_048_576;

export class BodyRoom {
  readonly #most: number;
  readonly #places = new LinkedList<Place>();
  #bytes = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A place for one more body. `giveUp` is called at most once, when it has to go; its place is free then. */
  enter(giveUp: () => void): Place {
    const place = new Place(giveUp);
    place.link = this.#places.add(place);
    return place;
  }

  /** The body takes so many bytes now. */
  hold(place: Place, bytes: number): void {
    if (place.link === undefined) return;
    this.#bytes += bytes - place.bytes;
    place.bytes = bytes;
    // The last one stays, whatever its size: a body that may be larger than the room could never come in otherwise.
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
