/**
 * Messages that were being answered when the process died, and not for the first time. One of them may be what kills it, and
 * would take down with it, until they are given up as well, those that are answered at the same moment. One at a time, it
 * dies alone.
 */
import type { WaitingMessage } from "@svc/store";

/** A power cut makes nobody a suspect. */
const SUSPECT_CRASHES = 2;

export class Suspects<Lane> {
  #isOneRunning = false;
  readonly #others: Lane[] = [];

  /** Whether the lane, whose first message this is, has to wait for another suspect; then `end` hands it back. */
  holds(lane: Lane, message: WaitingMessage): boolean {
    if (!isSuspect(message) || !this.#isOneRunning) return false;
    this.#others.push(lane);
    return true;
  }

  begin(message: WaitingMessage): void {
    if (isSuspect(message)) this.#isOneRunning = true;
  }

  /** Those that waited for it. */
  end(message: WaitingMessage): Lane[] {
    if (!isSuspect(message)) return [];
    this.#isOneRunning = false;
    return this.#others.splice(0);
  }
}

const isSuspect = ({ crashes = 0 }: WaitingMessage): boolean => crashes >= SUSPECT_CRASHES;
