/** The newest events since the page was opened, for a reader who opens the view later. Bounded. */
import type { Live } from "../../live/live.ts";
import type { LiveEvent } from "../../live/frames.ts";
import { Cell } from "../../state/cell.ts";

const MOST = 500;

export class EventLog {
  /** Newest first. */
  readonly events = new Cell<readonly LiveEvent[]>([]);
  readonly #waiting: LiveEvent[] = [];

  constructor(live: Live) {
    live.listen({ event: (event) => this.#add(event) });
  }

  clear(): void {
    this.#waiting.length = 0;
    this.events.set([]);
  }

  /** A burst is drawn once. */
  #add(event: LiveEvent): void {
    // Pieces of an answer are in the conversation; here they would push out all else.
    if (event.type === "text-delta") return;
    if (this.#waiting.push(event) > 1) return;
    setTimeout(() => {
      const fresh = this.#waiting.splice(0).reverse();
      if (fresh.length > 0) this.events.set([...fresh, ...this.events.value].slice(0, MOST));
    }, 50);
  }
}
