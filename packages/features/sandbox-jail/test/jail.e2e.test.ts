// The suite of all sandboxes, with the real firejail: by root's daemon, and by an ordinary user's, which firejail treats differently.
import { join } from "node:path";
import { findGroupMaker, findProgram } from "@svc/kit/process";
import { sandboxConformance } from "@svc/testkit/conformance/sandbox-conformance";
import { runAsOrdinaryUser } from "@svc/testkit/real/ordinary-user";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import definition from "../src/index.ts";

const groups = await findGroupMaker();

const missing = async () =>
  (await findProgram("firejail")) === undefined
    ? { name: "firejail", reason: "it is not installed; apt-get install firejail" }
    : undefined;

sandboxConformance(definition, {
  missing,
  // The kernel counts no processes of root but in a control group.
  unenforced: ({ user }) => (user === undefined && process.getuid?.() === 0 && !groups ? ["pids"] : []),
});

test("an ordinary user's daemon confines as well", { meta: { skipReason: "needs root" } }, async (context) => {
  context.skip(process.getuid?.() !== 0, "only root can become another user");
  const part = await missing();
  if (part) requireReal(context, part);
  const said = await runAsOrdinaryUser(join(import.meta.dirname, "plain-daemon.ts"));
  expect(said.trimEnd().split("\n")).toEqual([expect.stringMatching(/^6\d checks$/)]);
});
