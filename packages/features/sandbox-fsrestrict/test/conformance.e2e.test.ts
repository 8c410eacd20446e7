// A Landlock sandbox that leaves UDP, modes of files or a hidden grandchild to the command confines nothing that matters.
import { join } from "node:path";
import { findGroupMaker } from "@svc/kit/process";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { sandboxConformance } from "@svc/testkit/conformance/sandbox-conformance";
import { runAsOrdinaryUser } from "@svc/testkit/real/ordinary-user";
import { expect, test } from "vitest";
import definition from "../src/index.ts";
import { childCommand } from "./child-command.ts";

const groups = await findGroupMaker();

featureConformance(definition, { root: `${import.meta.dirname}/..` });

sandboxConformance(definition, {
  context: () => ({ child: () => childCommand }),
  // The kernel counts no processes of root but in a control group.
  unenforced: ({ user }) => (user === undefined && process.getuid?.() === 0 && !groups ? ["pids"] : []),
});

test("an ordinary user's daemon confines as well", { meta: { skipReason: "needs root" } }, async (context) => {
  context.skip(process.getuid?.() !== 0, "only root can become another user");
  const said = await runAsOrdinaryUser(join(import.meta.dirname, "plain-daemon.ts"));
  expect(said.trimEnd().split("\n")).toEqual([expect.stringMatching(/^6\d checks$/)]);
});
