/** Ids of events: which start of the service, and the how manieth there. */

export interface EventId {
  readonly boot: string;
  readonly n: number;
}

export function parseEventId(id: string): EventId | undefined {
  const match = /^(.+)-(\d{1,15})$/.exec(id);
  return match ? { boot: match[1] ?? "", n: Number(match[2]) } : undefined;
}

/** Whether an event is news to who has seen `last`: one that is replayed after it came by itself is not. */
export const isNews = (id: EventId, last: EventId | undefined): boolean =>
  last === undefined || id.boot !== last.boot || id.n > last.n;
