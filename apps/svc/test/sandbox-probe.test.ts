// A start does not wait for the trial of sandboxes: the daemon answers meanwhile, says so, and its end ends the trial.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";

const REASON = "firejail and podman are tried on Linux only";

interface Status {
  readonly url: string;
  readonly sandbox: { readonly effective: string; readonly confined: boolean; readonly fix: string | null };
  readonly features: readonly { readonly id: string; readonly state: string }[];
}

const statesOf = ({ features }: Pick<Status, "features">): Set<string> =>
  new Set(features.filter(({ id }) => id.startsWith("sandbox-")).map(({ state }) => state));

/** A daemon whose sandbox programs do nothing before `go()`, and then fail. Resolves when it answers. */
async function startWithSlowSandboxes() {
  const home = temporaryHome();
  const programs = join(home.path, "programs");
  const [go, begun] = [join(home.path, "go"), join(home.path, "begun")];
  const pids = (): number[] => readFileSync(begun, "utf8").trim().split("\n").map(Number);
  mkdirSync(programs);
  for (const name of ["firejail", "podman", "docker"]) {
    const file = join(programs, name);
    writeFileSync(file, `#!/bin/sh\necho $$ >>${begun}\nwhile [ ! -e ${go} ]; do sleep 0.02; done\nexit 1\n`);
    chmodSync(file, 0o755);
  }
  const env = { PATH: `${programs}:/usr/bin:/bin`, SVC__GATEWAY__PORT: "0" };
  const daemon = spawnBinary(binaryPath(), ["daemon"], home.path, env);
  let output = "";
  for (const stream of [daemon.stdout!, daemon.stderr!]) stream.on("data", (chunk: Buffer) => (output += chunk));
  const exited = new Promise<number | null>((resolve) => daemon.once("exit", resolve));
  const status = async (): Promise<Status | undefined> => {
    const { code, stdout } = await runBinary(["status", "--json"], { home: home.path });
    return code === 0 ? (JSON.parse(stdout) as Status) : undefined;
  };
  let first: Status | undefined;
  while (!first || !existsSync(begun)) {
    if (daemon.exitCode !== null) throw new Error(output);
    first = await status();
  }
  return {
    first,
    status,
    exited,
    output: () => output,
    /** Whether a sandbox program still runs. */
    isProbing: () => pids().some((pid) => existsSync(`/proc/${pid}`)),
    go: () => writeFileSync(go, ""),
    stop: () => daemon.kill("SIGTERM"),
    [Symbol.asyncDispose]: async () => {
      writeFileSync(go, "");
      daemon.kill("SIGKILL");
      await exited;
      home.remove();
    },
  };
}

test("answers while sandboxes are probed, and then says which is in force", async (context) => {
  context.skip(process.platform !== "linux", REASON);
  await using daemon = await startWithSlowSandboxes();
  expect(daemon.first.sandbox).toMatchObject({ effective: "probing", confined: false, fix: null });
  expect(statesOf(daemon.first)).toEqual(new Set(["probing"]));
  const health = await fetch(`${daemon.first.url}/health`);
  expect([health.status, await health.json()]).toMatchObject([200, { status: "ok" }]);
  expect(daemon.output()).not.toContain("sandbox:");
  daemon.go();
  let now = daemon.first;
  while (now.sandbox.effective === "probing") now = (await daemon.status())!;
  expect(now.sandbox).toMatchObject({ effective: "none", confined: false });
  expect(statesOf(now)).toEqual(new Set(["off"]));
  while (!daemon.output().includes("listening on")) await daemon.status();
  expect(daemon.output()).toContain("sandbox: none.");
});

test("stops while sandboxes are probed", async (context) => {
  context.skip(process.platform !== "linux", REASON);
  await using daemon = await startWithSlowSandboxes();
  daemon.stop();
  expect(await daemon.exited).toBe(0);
  expect(daemon.output()).not.toContain("sandbox:");
  while (daemon.isProbing()) await new Promise(setImmediate);
});
