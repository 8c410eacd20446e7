/**
 * Finds settings without effect, because this build lacks their feature or another section is off, and settings that remove a tool which
 * another tool needs.
 */
import type { CatalogueEntry, FeatureDefinition, FeatureNeed } from "@svc/contract";
import { type Absent, absentOf, badKey, badValue, type Finding, needsFeature } from "./finding.ts";
import type { CoreConfig } from "./core-schema.ts";
import type { LoadedSection, ToolPair } from "./loaded-config.ts";

export function neededFeatures(
  loaded: ReadonlyMap<string, LoadedSection>,
  features: readonly FeatureDefinition[],
  catalogue: readonly CatalogueEntry[],
  core: Partial<CoreConfig>,
): Finding[] {
  const present = new Set(features.map(({ id }) => id));
  return needsOf(loaded, features).flatMap(({ path, need }): Finding[] => {
    if ("section" in need) return loaded.get(need.section)?.on ? [] : [needsSection(path, need.section)];
    if ("tool" in need) return withoutTool(need, core);
    if (present.has(need.feature)) return [];
    return [needsFeature("key", [...path, need.key], [entryOf(need.feature, catalogue)])];
  });
}

/** The pairs of the features that are on. */
export const toolPairs = (
  loaded: ReadonlyMap<string, LoadedSection>,
  features: readonly FeatureDefinition[],
): ToolPair[] => needsOf(loaded, features).flatMap(({ need }) => ("tool" in need ? [need] : []));

interface SectionNeed {
  readonly path: Finding["path"];
  readonly need: FeatureNeed;
}

function needsOf(
  loaded: ReadonlyMap<string, LoadedSection>,
  features: readonly FeatureDefinition[],
): readonly SectionNeed[] {
  return features.flatMap((definition) => {
    const { section, on, parts } = loaded.get(definition.section ?? "") ?? {};
    const part = section?.parts.find(({ owner }) => owner === definition.id);
    const config = part && parts?.get(part);
    if (!section || !on || config === undefined) return [];
    return (definition.needs?.(config) ?? []).map((need) => ({ path: section.path, need }));
  });
}

const needsSection = (path: Finding["path"], needed: string): Finding =>
  badKey(path, `this section needs [${needed}] with enabled = true`);

/** Where the config takes the tool from an agent that has the other one. A section that is not valid takes nothing. */
function withoutTool({ tool, beside }: ToolPair, { tools, agents = {} }: Partial<CoreConfig>): Finding[] {
  const disabled = tools?.disabled ?? [];
  if (disabled.includes(beside)) return [];
  const at = disabled.indexOf(tool);
  const isOff = badValue(
    ["tools", "disabled", at],
    `${tool} can't be switched off while ${beside} is on; disable both`,
  );
  const lacking = Object.entries(agents).filter(
    ([, { tools: own }]) => own?.includes(beside) === true && !own.includes(tool),
  );
  return [
    ...(at < 0 ? [] : [isOff]),
    ...lacking.map(([name]) => badValue(["agents", name, "tools"], `an agent that has ${beside} needs ${tool} too`)),
  ];
}

/** A catalogue without it is one of a test, or of a feature from elsewhere: then its id is all that is known. */
const entryOf = (id: string, catalogue: readonly CatalogueEntry[]): Absent =>
  catalogue.find((entry) => entry.id === id) ?? absentOf(id);
