// The suite of all sandboxes, with the real firejail.
import { findProgram } from "@svc/kit/process";
import { sandboxConformance } from "@svc/testkit";
import definition from "../src/index.ts";

sandboxConformance(definition, {
  missing: async () =>
    (await findProgram("firejail")) === undefined
      ? { name: "firejail", reason: "it is not installed; apt-get install firejail" }
      : undefined,
});
