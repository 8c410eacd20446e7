/** An event with its number. Its JSON is made for whoever asks first, and kept for all others. */
import type { SvcEvent } from "@svc/contract";
import type { StampedEvent } from "./types.ts";
import { payloadOf, timestamp, type WireOptions } from "./wire.ts";

export class Stamped implements StampedEvent {
  readonly n: number;
  readonly atMs: number;
  readonly event: SvcEvent;
  readonly #boot: string;
  readonly #wire: WireOptions;
  #json: string | undefined;

  constructor(boot: string, n: number, atMs: number, event: SvcEvent, wire: WireOptions) {
    this.#boot = boot;
    this.n = n;
    this.atMs = atMs;
    this.event = event;
    this.#wire = wire;
  }

  get id(): string {
    return `${this.#boot}-${this.n}`;
  }

  get json(): string {
    return (this.#json ??= JSON.stringify({
      id: this.id,
      type: this.event.type,
      timestamp: timestamp(this.atMs),
      payload: payloadOf(this.event, this.#wire),
    }));
  }
}

/** What a `Last-Event-ID` points to; undefined: it is no id of ours. A boot may have a dash in it. */
export function readEventId(id: string): { readonly boot: string; readonly n: number } | undefined {
  const parts = /^([\x21-\x7e]{1,64})-(0|[1-9]\d{0,14})$/.exec(id);
  return parts?.[1] === undefined ? undefined : { boot: parts[1], n: Number(parts[2]) };
}
