/** A connection, as a feed writes to it. */
import type { StampedEvent } from "@svc/kernel";

export interface Outlet {
  /** Bytes that wait for the client to read. */
  readonly pending: number;
  event(event: StampedEvent): void;
  /** Something that concerns this connection alone, in the form of an event. */
  notice(id: string, type: string, json: string): void;
  /** Now and then: shows each side that the other one is there. `id`: where the reader stands. */
  beat(id: string): void;
  /** Ends it in order. */
  end(): void;
  /** Ends it at once. */
  cut(): void;
}
