// bubblewrap confines: every promise of a sandbox is tried on it, by root's daemon and by an ordinary user's, whose limits are rlimits.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "@svc/kit/process";
import { sandboxConformance } from "@svc/testkit/conformance/sandbox-conformance";
import { fakeClock } from "@svc/testkit/fake-clock";
import { runAsOrdinaryUser } from "@svc/testkit/real/ordinary-user";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { createUserns } from "../src/backend.ts";
import definition from "../src/index.ts";

const missing = async () =>
  (await findProgram("bwrap")) === undefined
    ? { name: "bubblewrap", reason: "bwrap is not on PATH; apt-get install bubblewrap" }
    : undefined;

sandboxConformance(definition, { missing });

test("an ordinary user's daemon confines as well", { meta: { skipReason: "needs root" } }, async (context) => {
  context.skip(process.getuid?.() !== 0, "only root can become another user");
  const part = await missing();
  if (part) requireReal(context, part);
  const said = await runAsOrdinaryUser(join(import.meta.dirname, "plain-daemon.ts"));
  expect(said.trimEnd().split("\n")).toEqual([expect.stringMatching(/^6\d checks$/)]);
});

describe("it is not available, and says why", () => {
  const confinement = (workspace: string) => ({
    workspace,
    network: false,
    readable: [],
    writable: [],
    hidden: [],
    limits: {},
  });
  /** A bwrap of the test's own making. */
  async function reason(script: string | undefined): Promise<string> {
    using folder = temporaryHome();
    if (script !== undefined) {
      writeFileSync(join(folder.path, "bwrap"), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder.path, "bwrap"), 0o755);
    }
    const { backend } = createUserns({ clock: fakeClock(), path: folder.path });
    const probe = await backend.probe(confinement(folder.path), new AbortController().signal);
    return probe.available ? "available" : probe.reason;
  }

  test("where bubblewrap is missing, too old, or does not start", async () => {
    expect(await reason(undefined)).toContain("not installed");
    expect(await reason("echo bubblewrap 0.4.1")).toContain("too old");
    expect(await reason("exit 1")).toContain("does not start");
  });

  test("where it may make no namespaces", async () => {
    const script =
      '[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit; echo "bwrap: No permissions to create new namespace" >&2; exit 1';
    expect(await reason(script)).toMatch(/namespaces/);
  });

  test("where it runs commands and confines nothing", async () => {
    const script =
      '[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit; while [ "$1" != -- ]; do shift; done; shift; exec "$@"';
    expect(await reason(script)).toMatch(/could read|could write/);
  });
});
