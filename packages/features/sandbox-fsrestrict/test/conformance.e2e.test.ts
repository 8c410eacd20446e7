// A Landlock sandbox that leaves UDP, modes of files or a hidden grandchild to the command confines nothing that matters.
import { featureConformance, sandboxConformance } from "@svc/testkit";
import definition from "../src/index.ts";
import { childCommand } from "./child-command.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });

sandboxConformance(definition, {
  context: () => ({ child: () => childCommand }),
  // The kernel counts no processes of root.
  unenforced: ({ user }) => (user === undefined && process.getuid?.() === 0 ? ["pids"] : []),
});
