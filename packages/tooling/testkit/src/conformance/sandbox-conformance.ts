/**
 * What every sandbox keeps, tried with its real program: commands run as they were written, and a hostile one stays inside.
 * Where the tests run as root, all of it also with commands as another user. A package joins in a few lines of an `.e2e.test.ts`:
 *
 *     sandboxConformance(definition, { missing: () => isInstalled("bwrap") ? undefined : { name: "bubblewrap", reason } });
 */
import type { FeatureDefinition } from "@svc/contract";
import { describe, test } from "vitest";
import type { Check } from "../check.ts";
import { requireReal } from "../require-real.ts";
import { descriptorChecks } from "./sandbox/descriptor-checks.ts";
import { escapeChecks } from "./sandbox/escape-checks.ts";
import { fileChecks } from "./sandbox/file-checks.ts";
import { lifetimeChecks } from "./sandbox/lifetime-checks.ts";
import { limitChecks } from "./sandbox/limit-checks.ts";
import { networkChecks } from "./sandbox/network-checks.ts";
import { startChecks } from "./sandbox/start-checks.ts";
import { type SandboxSubject, whosOf } from "./sandbox/subject.ts";

export type { SandboxSubject, Who as SandboxWho } from "./sandbox/subject.ts";

/* oxlint-disable vitest/valid-title, vitest/expect-expect -- titles and assertions are those of the checks */
export function sandboxConformance(definition: FeatureDefinition, subject: SandboxSubject): void {
  describe(`sandbox ${definition.id}`, () => {
    for (const { name, run } of sandboxChecks(definition, subject)) {
      test(name, async (context) => {
        const missing = await subject.missing?.();
        if (missing) requireReal(context, missing);
        await run();
      });
    }
  });
}

export const sandboxChecks = (definition: FeatureDefinition, subject: SandboxSubject): Check[] =>
  whosOf(subject).flatMap((who) => {
    const bench = { definition, subject, who };
    const checks = [
      ...startChecks(bench),
      ...fileChecks(bench),
      ...descriptorChecks(bench),
      ...networkChecks(bench),
      ...escapeChecks(bench),
      ...lifetimeChecks(bench),
      ...limitChecks(bench),
    ];
    return checks.map(({ name, run }) => ({ name: `as ${who.name}: ${name}`, run }));
  });
