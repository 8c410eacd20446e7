/** Keys that are set and do nothing in this build, because the feature that makes something of them is not in it. */
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import { type Absent, absentOf, type Finding, needsFeature } from "./finding.ts";
import type { LoadedSection } from "./loaded-config.ts";

export function neededFeatures(
  loaded: ReadonlyMap<string, LoadedSection>,
  features: readonly FeatureDefinition[],
  catalogue: readonly CatalogueEntry[],
): Finding[] {
  const present = new Set(features.map(({ id }) => id));
  return features.flatMap((definition) => {
    const { section, on, parts } = loaded.get(definition.section ?? "") ?? {};
    const part = section?.parts.find(({ owner }) => owner === definition.id);
    const config = part && parts?.get(part);
    if (!section || !on || config === undefined) return [];
    return (definition.needs?.(config) ?? [])
      .filter(({ feature }) => !present.has(feature))
      .map(({ key, feature }) => needsFeature("key", [...section.path, key], [entryOf(feature, catalogue)]));
  });
}

/** A catalogue without it is one of a test, or of a feature from elsewhere: then its id is all that is known. */
const entryOf = (id: string, catalogue: readonly CatalogueEntry[]): Absent =>
  catalogue.find((entry) => entry.id === id) ?? absentOf(id);
