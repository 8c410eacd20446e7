// The suite of the sandboxes finds what it is there for: with no sandbox, and with one that has a single hole.
import { findProgram, withoutDescriptors } from "@svc/kit/process";
import { beforeEach, describe, expect, test, type TestContext } from "vitest";
import { type Check, failures } from "../src/check.ts";
import { requireReal } from "../src/require-real.ts";
import { sandboxChecks } from "../src/conformance/sandbox-conformance.ts";
import * as fakes from "./sandbox-fakes/fakes.ts";

const NONE = { unenforced: () => ["memoryMb", "cpuSecs", "pids"] as const, users: ["daemon"] as const };

const named = (checks: readonly Check[], word: RegExp): Check[] => checks.filter(({ name }) => word.test(name));
const failed = async (checks: readonly Check[]): Promise<string[]> =>
  (await failures(checks)).map(({ name, error }) => `${name.replace(/^as \w+: /, "")}${said(error)}`);
/** A check must fail because of the sandbox, not because it proves nothing. */
const said = (error: unknown): string =>
  /proves nothing/.test(String(error)) ? ` PROVES NOTHING: ${String(error)}` : "";

describe("without any sandbox", () => {
  const checks = sandboxChecks(fakes.fake(fakes.unconfined), NONE);
  const attacks = named(
    checks,
    /can't be|no descriptor|leaves no core|no hard link|by a|by \/proc|no open file|nor |nothing is|off: |still no|no process|its environment|namespace|mounting|kernel's own|left in the background|time-out ends|do not see/,
  );

  test("every attack gets through, and is seen", async () => {
    const isRoot = process.getuid?.() === 0;
    // What only root gets at has nothing to prove as somebody else; the tests of a terminal have none.
    const unseen = new Set(attacks.map(({ name }) => name.replace(/^as \w+: /, "")));
    for (const name of await failed(attacks)) unseen.delete(name);
    expect([...unseen].filter((name) => isRoot && !/handed down|a time-out ends/.test(name))).toEqual([]);
  });

  test("what is no attack holds: the suite asks for nothing but confinement", async () => {
    const ordinary = named(
      checks,
      /: (a program of|a line runs|a program that is not|arguments arrive|a NUL|its input|it starts in|the workspace is at|output is capped|on: TCP|on: UDP|what the config makes|the configured time-out)/,
    );
    expect(ordinary).toHaveLength(14);
    expect(await failed(ordinary)).toEqual([]);
  });
});

describe("with a single hole", () => {
  beforeEach(needBubblewrap);
  const holes: [string, Parameters<typeof fakes.fake>[0], RegExp][] = [
    ["the network is shared", fakes.more("--share-net"), /off: no TCP|off: no UDP|name server|abstract/],
    [
      "processes are seen",
      fakes.bubblewrap((o) =>
        o.flatMap((word) => (word === "--unshare-all" ? ["--unshare-user", "--unshare-net", "--unshare-ipc"] : [word])),
      ),
      /no process outside/,
    ],
    [
      "/var/tmp is shown",
      fakes.bubblewrap((o) => ["--bind", "/var/tmp", "/var/tmp", ...o]),
      /\$SVC_HOME around|hidden folder|can't be written, removed/,
    ],
    ["/tmp is shared", fakes.more("--bind", "/tmp", "/tmp"), /temporary and shared/],
    ["all of /etc is shown", fakes.more("--ro-bind", "/etc", "/etc"), /system's secrets/],
    ["namespaces can be made", fakes.less("--disable-userns"), /no new namespace can be made/],
    ["capabilities are kept", fakes.less("--cap-drop", 1), /no more: no capability/],
    [
      "readable is writable",
      fakes.bubblewrap((o) => o.map((word) => (word === "--ro-bind-try" ? "--bind-try" : word))),
      /and not written/,
    ],
    ["the environment goes in", fakes.leakyEnvironment, /daemon's environment/],
    ["descriptors go in", fakes.entered('ulimit -c 0; exec "$@"'), /no descriptor that the daemon inherited/],
    [
      "a single descriptor goes in",
      fakes.entered(`ulimit -c 0; ${withoutDescriptors('exec "$@"', [100])}`),
      /no descriptor that the daemon inherited/,
    ],
    ["the limit of core files goes in", fakes.entered(withoutDescriptors('exec "$@"')), /leaves no core file/],
    ["words are joined", fakes.joinedWords, /arguments arrive/],
  ];

  test.each(holes)("%s", async (_what, start, checks) => {
    const found = named(sandboxChecks(fakes.fake(start), NONE), checks);
    const names = found.map(({ name }) => name.replace(/^as \w+: /, ""));
    expect(names.length).toBeGreaterThan(0);
    expect(await failed(found)).toEqual(names);
  });

  test("limits that are said to be held and are not", async () => {
    const loose = fakes.fake(fakes.bubblewrap(), { available: true, unenforced: [] });
    const found = named(sandboxChecks(loose, { users: ["daemon"] }), /fork bomb|hides its children|too much memory/);
    expect(await failed(found)).toHaveLength(3);
  });

  test("a probe that says less or more than its package does", async () => {
    const found = named(sandboxChecks(fakes.fake(fakes.bubblewrap()), { users: ["daemon"] }), /its probe/);
    expect(await failed(found)).toHaveLength(1);
  });
});

test("bubblewrap as it should be keeps all of it", async (context) => {
  await needBubblewrap(context);
  expect(await failed(sandboxChecks(fakes.fake(fakes.bubblewrap()), NONE))).toEqual([]);
});

async function needBubblewrap(context: Pick<TestContext, "skip">): Promise<void> {
  if ((await findProgram("bwrap")) !== undefined) return;
  requireReal(context, { name: "bubblewrap", reason: "bwrap is not on PATH; apt-get install bubblewrap" });
}
