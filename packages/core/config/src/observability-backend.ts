/** Who watches: `[observability] backend` as it is in force, which may not be what the file says. */
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import type { CoreConfig } from "./core-schema.ts";
import { absentOf, needsFeature } from "./finding.ts";

type Section = CoreConfig["observability"];
export type Backend = Section["backend"];

/** What core is itself; whoever watches otherwise is a feature that the section turns on. */
const OWN: ReadonlySet<Backend> = new Set(["none", "log"]);

/** `log` in place of one that is not in this build: whoever asked to see something sees that at least. */
export function backendInForce(section: Section, features: readonly FeatureDefinition[]): Backend {
  const isHere = features.some(({ extends: extended, when }) => extended === "observability" && when?.(section));
  return isHere || OWN.has(section.backend) ? section.backend : "log";
}

/** A sentence for the operator where that is another one than the file says. */
export function backendWarnings(
  { backend }: Section,
  inForce: Backend,
  catalogue: readonly CatalogueEntry[],
): readonly string[] {
  if (backend === inForce) return [];
  const id = `observability-${backend}`;
  const entry = catalogue.find((each) => each.id === id) ?? absentOf(id);
  const { message } = needsFeature("key", ["observability", "backend"], [entry]);
  return [`observability.backend: ${message}; until then, turns and deliveries are written to the log (backend "log")`];
}
