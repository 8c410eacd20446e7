/**
 * What every observability backend keeps: it disturbs nobody, leaves nothing behind, and what it tells everybody is valid,
 * bounded and about nobody. A package joins with one line:
 *
 *     observerConformance(definition, { config: { backend: "metrics" } });
 */
import type { FeatureDefinition } from "@svc/contract";
import { type Check, describeChecks } from "../check.ts";
import { expositionChecks } from "./observer/exposition-checks.ts";
import type { ObserverSubject } from "./observer/opened.ts";
import { watchChecks } from "./observer/watch-checks.ts";

export { type ExposedFamily, type ExposedSample, parseExposition } from "./observer/parse-exposition.ts";

export function observerConformance(definition: FeatureDefinition, subject: ObserverSubject): void {
  describeChecks(`observer ${definition.id}`, observerChecks(definition, subject));
}

export const observerChecks = (definition: FeatureDefinition, subject: ObserverSubject): Check[] => [
  ...watchChecks(definition, subject),
  ...expositionChecks(definition, subject),
];
