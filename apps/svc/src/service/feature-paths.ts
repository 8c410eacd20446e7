/** The paths that belong to features below `/api/`, and what to do where nobody serves them. */
import { type CatalogueEntry, type Composition, featureIdOf } from "@svc/contract";
import type { FeaturePath } from "@svc/gateway";
import type { LoadedConfig } from "@svc/config";

/** By path; of every feature there is, in this build or not. */
export const featurePathsOf = (
  { catalogue, features }: Pick<Composition, "catalogue" | "features">,
  config: LoadedConfig,
): ReadonlyMap<string, FeaturePath> =>
  new Map(
    catalogue.flatMap((entry) => {
      const parts = features.filter((part) => featureIdOf(part) === entry.id);
      const isOn = parts.some((part) => config.enabled(part));
      const owner = { feature: entry.id, missing: isOn ? undefined : reasonOf(entry, parts.length > 0) };
      return entry.routes.map((path) => [path, owner] as const);
    }),
  );

function reasonOf({ id, build, planned, sections: [section] }: CatalogueEntry, isIncluded: boolean): string {
  const turnOn = section === undefined ? undefined : `set [${section}] enabled = true in the config`;
  if (isIncluded) return `the feature ${id} is off; ${turnOn ?? "turn it on in the config"}, then run: svc reload`;
  if (planned) return `this needs the feature ${id}, which is planned and not written yet`;
  const then = turnOn === undefined ? "" : `, then ${turnOn}`;
  return `the feature ${id} is not in this build; build it in with: ${build}${then}`;
}
