// The suite of all sandboxes, with the real firejail: by root's daemon, and by an ordinary user's, which firejail treats differently.
import { join } from "node:path";
import { findGroupMaker, findProgram } from "@svc/kit/process";
import { requireReal, runAsOrdinaryUser, sandboxConformance } from "@svc/testkit";
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

test(
  "an ordinary user's daemon confines as well",
  { timeout: 300_000, meta: { skipReason: "needs root" } },
  async (context) => {
    context.skip(process.getuid?.() !== 0, "only root can be somebody else");
    const part = await missing();
    if (part) requireReal(context, part);
    expect(await runAsOrdinaryUser(join(import.meta.dirname, "plain-daemon.ts"))).toMatch(/^6\d checks\n$/);
  },
);
