import type { NewDelivery } from "@svc/store";

/** The first of them that has a text takes the place of what the platform has already. */
export function inPlaceOf(draft: string | undefined, rows: readonly NewDelivery[]): readonly NewDelivery[] {
  const first = draft === undefined ? -1 : rows.findIndex(({ text }) => text !== "");
  return first < 0 ? rows : rows.with(first, { ...rows[first]!, draft: draft! });
}
