// A Landlock sandbox that leaves UDP, modes of files or a hidden grandchild to the command confines nothing that matters.
import { findGroupMaker } from "@svc/kit/process";
import { featureConformance, sandboxConformance } from "@svc/testkit";
import definition from "../src/index.ts";
import { childCommand } from "./child-command.ts";

const groups = await findGroupMaker();

featureConformance(definition, { root: `${import.meta.dirname}/..` });

sandboxConformance(definition, {
  context: () => ({ child: () => childCommand }),
  // The kernel counts no processes of root but in a control group.
  unenforced: ({ user }) => (user === undefined && process.getuid?.() === 0 && !groups ? ["pids"] : []),
});
