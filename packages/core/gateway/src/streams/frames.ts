/**
 * Events as bytes: made once for all readers of an event. Most are told of it one after the other; those who come back by the
 * hundred, and do not read what they asked for, are all given the same bytes, or each would have a copy of its own in memory.
 */
import type { StampedEvent } from "@svc/kernel";

interface Made {
  sse?: Buffer;
  text?: Buffer;
}

export class Frames {
  /** For as long as somebody remembers the event. */
  readonly #made = new WeakMap<StampedEvent, Made>();
  #event: StampedEvent | undefined;
  #current: Made = {};

  /** For a stream of events. */
  sse(event: StampedEvent): Buffer {
    return (this.#of(event).sse ??= sseFrame(event.id, event.event.type, event.json));
  }

  /** For a WebSocket. */
  text(event: StampedEvent): Buffer {
    return (this.#of(event).text ??= Buffer.from(event.json));
  }

  #of(event: StampedEvent): Made {
    if (this.#event === event) return this.#current;
    this.#event = event;
    this.#current = this.#made.get(event) ?? {};
    this.#made.set(event, this.#current);
    return this.#current;
  }
}

/** JSON has no line breaks, and neither have our ids and types. */
export const sseFrame = (id: string, type: string, json: string): Buffer =>
  Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${json}\n\n`);

/** No event, but where the reader stands: from there it goes on when the connection is lost. */
export const ssePosition = (id: string): string => `id: ${id}\n\n`;
