import type { Feature } from "../api/shapes.ts";
import { useList } from "../state/use-reader.ts";

/** Ids of those that are in service; none, before that is known. */
export function useRunningFeatures(): ReadonlySet<string> {
  // They change with a reload of the config: whoever follows that closely has the page of the features.
  const { data } = useList<{ readonly features: readonly Feature[] }>("/api/features", []);
  return new Set(data?.features.filter(({ state }) => state === "running").map(({ id }) => id));
}
