/**
 * No state at module level in shipped code: it would be shared by all clients, survive a reload and leak from
 * one test into the next (the specification's shared-state rule 1). State lives in what `create` returns, or in what it was
 * given at construction (`FeatureContext.shared`, `perClient`).
 *
 * The check reads only our source. It can't see state inside npm packages (a client shared by the whole process), nor changes
 * that a function makes to a table passed to it.
 */
import type { Check } from "../check.ts";
import { findModuleState, isExcepted } from "@svc/source/module-state";
import { isTest } from "@svc/source";

const SHIPS = /^(?:packages\/(?:features|core)|apps)\/[^/]+\/src\//;

export const moduleState: Check = {
  id: "module-state",
  rule: "A feature, a core package or the app keeps no changing state at module level.",
  find: (workspace) =>
    findModuleState(
      workspace.sources((file) => SHIPS.test(file) && !isTest(file)),
      {
        isStrict: (file) => file.startsWith("packages/features/"),
        isExcepted,
      },
    ),
};
