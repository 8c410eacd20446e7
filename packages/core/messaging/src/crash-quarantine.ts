/**
 * Crash quarantine: a message or a delivery that was being worked on in at least two processes that died may be what kills
 * them. Such suspects run one at a time, so that the guilty one dies alone and takes no other with it.
 */
import { MAX_CRASHES } from "@svc/store";

interface Suspected {
  /** Of one that an earlier process left: how many processes died while they worked on it. */
  readonly crashes?: number;
}

/** One crash may be a power cut. */
const SUSPECT_CRASHES = 2;
const FIRST_DELAY_MS = 2_000;

const isSuspect = ({ crashes = 0 }: Suspected): boolean => crashes >= SUSPECT_CRASHES;

/**
 * How long a suspect waits after a start before it is tried. Without the delay, a service that ends within seconds for another
 * reason would use up all its tries.
 */
export const suspectDelayMs = (crashes = 0): number =>
  crashes < SUSPECT_CRASHES || crashes >= MAX_CRASHES ? 0 : FIRST_DELAY_MS * 2 ** (crashes - SUSPECT_CRASHES);

export class CrashQuarantine<Queue> {
  #running = 0;
  readonly #others: Queue[] = [];

  /** Whether the queue, whose first message this is, has to wait for another suspect; then `end` returns it. */
  holds(queue: Queue, message: Suspected): boolean {
    if (!isSuspect(message) || this.#running === 0) return false;
    this.#others.push(queue);
    return true;
  }

  begin(message: Suspected): void {
    if (isSuspect(message)) this.#running += 1;
  }

  /** The queues that waited for it. */
  end(message: Suspected): Queue[] {
    if (!isSuspect(message)) return [];
    this.#running -= 1;
    // A suspect that waited for an approval may run again beside this one.
    return this.#running === 0 ? this.#others.splice(0) : [];
  }
}
