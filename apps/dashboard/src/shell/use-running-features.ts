import type { Feature } from "../api/shapes.ts";
import { useList } from "../state/use-reader.ts";

/** Ids of the running features; empty until they are loaded. */
export function useRunningFeatures(): ReadonlySet<string> {
  // They change only with a config reload; the page of features follows that live.
  const { data } = useList<{ readonly features: readonly Feature[] }>("/api/features", []);
  return new Set(data?.features.filter(({ state }) => state === "running").map(({ id }) => id));
}
