/**
 * What every backend of the browser tool keeps, with a real browser against sites that try all that a page can. A package joins
 * with one test file:
 *
 *     browserConformance(definition, { backend: "rust_native", proxied: true, config: {}, missing });
 */
/* oxlint-disable vitest/valid-title, vitest/expect-expect -- here titles and assertions are those of the checks */
import type { FeatureDefinition } from "@svc/contract";
import { describe, test } from "vitest";
import type { Check } from "../check.ts";
import { requireReal } from "../require-real.ts";
import { actionChecks } from "./browser/action-checks.ts";
import { confinementChecks } from "./browser/confinement-checks.ts";
import { fileChecks } from "./browser/file-checks.ts";
import { hostilityChecks } from "./browser/hostility-checks.ts";
import { sessionChecks } from "./browser/session-checks.ts";
import type { BrowserBench, BrowserSubject } from "./browser/subject.ts";

export type { BrowserSubject } from "./browser/subject.ts";

export function browserConformance(definition: FeatureDefinition, subject: BrowserSubject): void {
  describe(`browser ${definition.id}`, () => {
    for (const { name, run } of browserChecks(definition, subject)) {
      test(name, (context) => {
        const missing = subject.missing?.();
        if (missing !== undefined) requireReal(context, missing);
        return run();
      });
    }
  });
}

export function browserChecks(definition: FeatureDefinition, subject: BrowserSubject): Check[] {
  const bench: BrowserBench = { definition, subject };
  const checks = [actionChecks, fileChecks, sessionChecks, confinementChecks, hostilityChecks].flatMap((of) =>
    of(bench),
  );
  return checks.filter(({ needs = [], proxied }) => {
    if (proxied === true && !subject.proxied) return false;
    return !needs.some((action) => subject.lacks?.includes(action));
  });
}
