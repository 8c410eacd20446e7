/** What is set and does nothing: because the feature that makes something of it is not in this build, or another section is off. */
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import { type Absent, absentOf, badKey, type Finding, needsFeature } from "./finding.ts";
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
    return (definition.needs?.(config) ?? []).flatMap((need): Finding[] => {
      if ("section" in need) return loaded.get(need.section)?.on ? [] : [needsSection(section.path, need.section)];
      if (present.has(need.feature)) return [];
      return [needsFeature("key", [...section.path, need.key], [entryOf(need.feature, catalogue)])];
    });
  });
}

const needsSection = (path: Finding["path"], needed: string): Finding =>
  badKey(path, `this section needs [${needed}] with enabled = true`);

/** A catalogue without it is one of a test, or of a feature from elsewhere: then its id is all that is known. */
const entryOf = (id: string, catalogue: readonly CatalogueEntry[]): Absent =>
  catalogue.find((entry) => entry.id === id) ?? absentOf(id);
