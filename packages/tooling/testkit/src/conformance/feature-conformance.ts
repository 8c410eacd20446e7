/**
 * What every feature keeps, whatever it does. A package joins with one test file:
 *
 *     import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
 *     import definition from "../src/index.ts";
 *
 *     featureConformance(definition, { root: `${import.meta.dirname}/..`, config: { url: "https://example.org" } });
 */
import type { FeatureDefinition, FeatureExport } from "@svc/contract";
import { pathToFileURL } from "node:url";
import { describeChecks, type Check } from "../check.ts";
import { configChecks } from "./config-checks.ts";
import { constructionChecks } from "./construction-checks.ts";
import { definitionChecks, partChecks } from "./definition-checks.ts";
import type { FeatureSubject } from "./instance.ts";
import { phaseChecks } from "./phase-checks.ts";

export type { FeatureSubject } from "./instance.ts";

/** `exported`: the package's default export, one definition or the list of the feature's parts. */
export function featureConformance(exported: FeatureExport, subject: FeatureSubject): void {
  const definitions = [exported].flat();
  if (definitions.length > 1) {
    describeChecks(`parts of feature ${definitions[0]!.id}`, partChecks(definitions, subject.root));
  }
  for (const definition of definitions) {
    const config = subject.configs?.[definition.section ?? definition.extends ?? ""];
    describeChecks(`feature ${definition.id}`, featureChecks(definition, config ? { ...subject, config } : subject));
  }
}

export function featureChecks(definition: FeatureDefinition, subject: FeatureSubject): Check[] {
  const entry = pathToFileURL(subject.entry ?? `${subject.root}/src/index.ts`).href;
  return [
    ...definitionChecks(definition, subject.root),
    ...configChecks(definition, subject.config),
    ...constructionChecks(definition, { ...subject, entry }),
    ...phaseChecks(definition, subject),
  ];
}
