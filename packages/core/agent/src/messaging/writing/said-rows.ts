/**
 * What was said of an answer before all of it was there: rows of the outbox, named by turn, step and place. An attempt that
 * comes after it finds by them what need not be said again.
 */
import type { Delivery, NewDelivery, Store } from "@svc/store";

export interface SaidBefore {
  /** In order, as the last attempt that said something left them. */
  readonly rows: readonly NewDelivery[];
  /** All there are, those of earlier attempts too. */
  readonly count: number;
}

const prefixOf = (turnId: string, step: number): string => `said:${turnId}:${step}:`;
const NOTE = "note";

/** `count`: of those before it, which makes it a name of its own. */
export const saidKey = (turnId: string, step: number, place: number | undefined, count: number): string =>
  `${prefixOf(turnId, step)}${place ?? NOTE}:${count}`;

export function saidBefore({ outbox }: Pick<Store, "outbox">, turnId: string, step: number): SaidBefore {
  const prefix = prefixOf(turnId, step);
  const all = outbox.ofTurn(turnId).filter(({ key }) => key?.startsWith(prefix));
  const rows: Delivery[] = [];
  for (const row of all) {
    const [place] = row.key!.slice(prefix.length).split(":");
    if (place === NOTE) continue;
    // One that said something else began there.
    rows.length = Math.min(rows.length, Number(place));
    rows.push(row);
  }
  return { rows, count: all.length };
}

export const saysTheSame = (one: NewDelivery, other: NewDelivery): boolean =>
  one.text === other.text && JSON.stringify(one.files) === JSON.stringify(other.files);
