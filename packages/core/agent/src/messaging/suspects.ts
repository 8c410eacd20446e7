/**
 * What was being answered, or sent, when the process died, and not for the first time. One of them may be what kills it, and
 * would take down with it, until they are given up as well, those that are worked on at the same moment. One at a time, it
 * dies alone.
 */
import { MAX_CRASHES, type WaitingMessage } from "@svc/store";

type Suspected = Pick<WaitingMessage, "crashes">;

/** A power cut makes nobody a suspect. */
const SUSPECT_CRASHES = 2;
const FIRST_REST_MS = 2_000;

/**
 * How long a suspect waits after a start before it is tried: a service that ends within seconds for another reason would else use up
 * all its tries.
 */
export const suspectRestMs = (crashes = 0): number =>
  crashes < SUSPECT_CRASHES || crashes >= MAX_CRASHES ? 0 : FIRST_REST_MS * 2 ** (crashes - SUSPECT_CRASHES);

export class Suspects<Lane> {
  #running = 0;
  readonly #others: Lane[] = [];

  /** Whether the lane, whose first message this is, has to wait for another suspect; then `end` hands it back. */
  holds(lane: Lane, message: Suspected): boolean {
    if (!isSuspect(message) || this.#running === 0) return false;
    this.#others.push(lane);
    return true;
  }

  begin(message: Suspected): void {
    if (isSuspect(message)) this.#running += 1;
  }

  /** Those that waited for it. */
  end(message: Suspected): Lane[] {
    if (!isSuspect(message)) return [];
    this.#running -= 1;
    // One that was waiting for a person may have come back beside it.
    return this.#running === 0 ? this.#others.splice(0) : [];
  }
}

const isSuspect = ({ crashes = 0 }: Suspected): boolean => crashes >= SUSPECT_CRASHES;
