/** Which feature drives the browser that the config asks for, and what to say where it is not in this build. */
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import type { CoreConfig } from "./core-schema.ts";
import { type Absent, absentOf, needsFeature } from "./finding.ts";

type Section = CoreConfig["browser"];

const FEATURES: Readonly<Record<Section["backend"], string>> = {
  agent_browser: "browser-agent",
  native: "browser-native",
  computer_use: "browser-computer-use",
};

export type AbsentBrowser = Absent & { readonly id: string };

/** Undefined where the browser is off, or its feature is in this build. */
export function absentBrowser(
  { enabled, backend }: Section,
  features: readonly Pick<FeatureDefinition, "id">[],
  catalogue: readonly CatalogueEntry[],
): AbsentBrowser | undefined {
  const id = FEATURES[backend];
  if (!enabled || features.some((feature) => feature.id === id)) return undefined;
  return catalogue.find((entry) => entry.id === id) ?? { id, ...absentOf(id) };
}

/** A sentence for the operator, with the command that builds it in. */
export function browserWarnings(absent: AbsentBrowser | undefined): readonly string[] {
  if (absent === undefined) return [];
  const { message } = needsFeature("key", ["browser", "backend"], [absent]);
  return [`browser.backend: ${message}; until then the tool browser is unavailable`];
}
