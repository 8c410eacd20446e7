/**
 * No state at module level in what the binary holds: it would be shared by all clients, survive a reload and leak from
 * one test into the next (the specification's shared-state rule 1). State lives in what `create` returns, or in what it was
 * given at construction (`FeatureContext.shared`, `perClient`).
 *
 * It goes by what is written. It can't see what is behind the functions of npm packages (a client that is one for the whole
 * process), nor what a function does to a table that it is handed.
 */
import type { Check } from "../check.ts";
import { findModuleState } from "../module-state/find.ts";
import { isTest } from "../source.ts";

const SHIPS = /^(?:packages\/(?:features|core)|apps)\/[^/]+\/src\//;

interface Exception {
  readonly file: RegExp;
  readonly names: readonly string[];
  readonly why: string;
}

/** What may be kept or changed for the whole process. */
const EXCEPTIONS: readonly Exception[] = [
  {
    file: /^apps\/dashboard\/src\//,
    names: ["document", "location", "services"],
    why: "The page is one person's, for as long as it is open.",
  },
  {
    file: /^apps\/svc\/src\/(?:main|cli\/prompts)\.ts$/,
    names: ["process"],
    why: "What the process ends with, and the size of its terminal.",
  },
  {
    file: /^packages\/features\/observability-otel\/src\/export\/without-environment\.ts$/,
    names: ["process"],
    why: "It is put back before anybody else runs.",
  },
];

export const moduleState: Check = {
  id: "module-state",
  rule: "A feature, a core package or the app keeps no changing state at module level.",
  find: (workspace) =>
    findModuleState(
      workspace.sources((file) => SHIPS.test(file) && !isTest(file)),
      {
        isStrict: (file) => file.startsWith("packages/features/"),
        isExcepted: (file, name) => EXCEPTIONS.some((each) => each.file.test(file) && each.names.includes(name)),
      },
    ),
};
