// The suite of all sandboxes, with the real firejail.
import { findGroupMaker, findProgram } from "@svc/kit/process";
import { sandboxConformance } from "@svc/testkit";
import definition from "../src/index.ts";

const groups = await findGroupMaker();

sandboxConformance(definition, {
  missing: async () =>
    (await findProgram("firejail")) === undefined
      ? { name: "firejail", reason: "it is not installed; apt-get install firejail" }
      : undefined,
  // The kernel counts no processes of root but in a control group.
  unenforced: ({ user }) => (user === undefined && process.getuid?.() === 0 && !groups ? ["pids"] : []),
});
