/**
 * The features that `[observability] backend` and `[browser] backend` ask for: what is in force where the feature is not in this build, and
 * what to tell the operator.
 */
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import type { CoreConfig } from "./core-schema.ts";
import { type Absent, absentOf, needsFeature } from "./problem.ts";

export type Backend = Observability["backend"];
type Observability = CoreConfig["observability"];

/** What core is itself; whoever watches otherwise is a feature that the section turns on. */
const OWN: ReadonlySet<Backend> = new Set(["none", "log"]);

/** `log` in place of one that is not in this build: whoever asked to see something sees that at least. */
export function backendInForce(section: Observability, features: readonly FeatureDefinition[]): Backend {
  const isHere = features.some(({ extends: extended, when }) => extended === "observability" && when?.(section));
  return isHere || OWN.has(section.backend) ? section.backend : "log";
}

/** A sentence for the operator where that is another one than the file says. */
export function backendWarnings(
  { backend }: Observability,
  inForce: Backend,
  catalogue: readonly CatalogueEntry[],
): readonly string[] {
  if (backend === inForce) return [];
  const id = `observability-${backend}`;
  const entry = catalogue.find((each) => each.id === id) ?? absentOf(id);
  const { message } = needsFeature("key", ["observability", "backend"], [entry]);
  return [`observability.backend: ${message}; until then, turns and deliveries are written to the log (backend "log")`];
}

type Browser = CoreConfig["browser"];

/** Which feature drives the browser. */
const FEATURES: Readonly<Record<Browser["backend"], string>> = {
  agent_browser: "browser-agent",
  native: "browser-native",
  computer_use: "browser-computer-use",
};

export type AbsentBrowser = Absent & { readonly id: string };

/** Undefined where the browser is off, or its feature is in this build. */
export function absentBrowser(
  { enabled, backend }: Browser,
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
