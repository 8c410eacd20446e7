/** Events as bytes: made once for all readers of an event, who are told of it one after the other. */
import type { StampedEvent } from "@svc/kernel";

export class Frames {
  #event: StampedEvent | undefined;
  #sse: Buffer | undefined;
  #text: Buffer | undefined;

  /** For a stream of events. */
  sse(event: StampedEvent): Buffer {
    this.#turnTo(event);
    return (this.#sse ??= sseFrame(event.id, event.event.type, event.json));
  }

  /** For a WebSocket. */
  text(event: StampedEvent): Buffer {
    this.#turnTo(event);
    return (this.#text ??= Buffer.from(event.json));
  }

  #turnTo(event: StampedEvent): void {
    if (this.#event === event) return;
    this.#event = event;
    this.#sse = this.#text = undefined;
  }
}

/** JSON has no line breaks, and neither have our ids and types. */
export const sseFrame = (id: string, type: string, json: string): Buffer =>
  Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${json}\n\n`);

/** No event, but where the reader stands: from there it goes on when the connection is lost. */
export const ssePosition = (id: string): string => `id: ${id}\n\n`;
