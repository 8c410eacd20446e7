/** A refusal is quicker than a fsync: numbers with one among them are worth nothing. */
import type { LoadResult } from "../load.ts";

export function onlyTaken(result: LoadResult): LoadResult {
  const others = Object.entries(result.statuses).filter(([status]) => status !== "200");
  if (others.length > 0) throw new Error(`not every delivery was taken: ${JSON.stringify(result.statuses)}`);
  return result;
}
