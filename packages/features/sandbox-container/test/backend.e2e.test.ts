// What there is only with containers: which engine it is and what it lacks, programs that only pretend, and that none is left.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Confinement, SandboxProbe } from "@svc/contract";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { makeContainerImage, missingEngine } from "@svc/testkit/real/container-image";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createContainers } from "../src/backend.ts";
import { labelOf, ownerOf } from "../src/leftovers.ts";

const missing = await missingEngine();
const image = missing ? undefined : makeContainerImage(["podman"]);
afterAll(() => image?.[Symbol.dispose]());

const never = new AbortController().signal;

function folder(): string {
  const path = mkdtempSync(join("/var/tmp", "svc-containers-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const confine = (more: Partial<Confinement> = {}): Confinement => ({
  workspace: folder(),
  network: false,
  readable: [],
  writable: [],
  hidden: [],
  limits: { memoryMb: 128, pids: 32 },
  ...more,
});

function make({ path = process.env["PATH"], home = randomUUID(), name = image?.name ?? "none" } = {}) {
  const log = captureLogger();
  const clock = fakeClock();
  const environment = () => ({ ...process.env, PATH: path });
  return { backend: createContainers({ image: name, clock, homeFolder: home, log, environment }), clock, log, home };
}

const reasonOf = (probe: SandboxProbe): string => (probe.available ? "it is available" : probe.reason);

/** Names of this home's containers. */
const left = (home: string): string[] =>
  execFileSync("podman", ["ps", "--all", `--filter=label=${labelOf(home)}`, "--format={{.Names}}"], {
    encoding: "utf8",
  })
    .split("\n")
    .filter(Boolean);

describe("programs that only pretend", () => {
  const fake = (script: string): string => {
    const path = folder();
    for (const name of ["podman", "docker"]) {
      writeFileSync(join(path, name), `#!/bin/sh\n${script}`);
      chmodSync(join(path, name), 0o755);
    }
    return `${path}:/usr/bin:/bin`;
  };
  const runs = `[ "$1" = image ] && { printf '%064d\\n' 1; exit 0; }
    [ "$1" = run ] || exit 0
    report=""
    while [ $# -gt 0 ]; do
      case $1 in
        --mount=type=bind,source=*,destination=/run/svc-report) report=\${1#*source=}; report=\${report%%,*} ;;
        --workdir=*) cd "\${1#*=}" ;;
        -c) break ;;
      esac
      shift
    done`;

  test("one that just runs the command is found out", async () => {
    const { backend } = make({ path: fake(`${runs}\nexec /bin/sh "$@"`) });
    expect(reasonOf(await backend.probe(confine(), never))).toContain("starts no container here");
  });

  test("so is one that writes the report as well", async () => {
    const script = `${runs}\nshift 2; echo began >"$report"; shift; "$@"; code=$?; echo ended >>"$report"; exit $code`;
    const { backend } = make({ path: fake(script) });
    expect(reasonOf(await backend.probe(confine(), never))).toMatch(/could read|could write|could reach/);
  });

  test("one that answers with anything but an image's id is none", async () => {
    const { backend } = make({ path: fake("echo yes") });
    expect(reasonOf(await backend.probe(confine(), never))).toContain("does not answer as it should");
  });
});

test("without an engine it says what to install", async () => {
  const { backend } = make({ path: "/nowhere" });
  expect(reasonOf(await backend.probe(confine(), never))).toBe(
    "Neither podman nor docker is installed: install one of them",
  );
  await expect(backend.open(confine())).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
});

test.skipIf(process.getuid?.() === 0)(
  "an ordinary user can't run commands as another one",
  { meta: { skipReason: "needs an ordinary user" } },
  async () => {
    const { backend } = make();
    expect(reasonOf(await backend.probe(confine({ user: { uid: 1, gid: 1 } }), never))).toContain("Only root");
  },
);

describe("with podman", () => {
  beforeEach((context) => {
    if (missing) requireReal(context, missing);
  });

  test("an image that is not there is not fetched: the reason says how to get it", async () => {
    const { backend } = make({ name: "debian:never-there" });
    expect(reasonOf(await backend.probe(confine(), never))).toContain("podman pull debian:never-there");
    const other = make({ name: "registry.invalid/private/image" });
    const reason = reasonOf(await other.backend.probe(confine(), never));
    expect(reason).toContain("security.sandbox.container_image");
    expect(reason).not.toContain("registry.invalid");
  });

  test("paths may have every character in them, and what is hidden in a readable folder is covered", async () => {
    const root = folder();
    const readable = join(root, `a,b "c":d 'e' $f\n(g)`);
    execFileSync("mkdir", ["-p", join(readable, "secret")]);
    writeFileSync(join(readable, "secret", "key"), "canary");
    writeFileSync(join(readable, "token"), "canary");
    writeFileSync(join(readable, "note"), "hello");
    const { backend } = make();
    const hidden = [join(readable, "secret"), join(readable, "token")];
    await using session = disposable(await backend.open(confine({ readable: [readable], hidden })));
    const result = await session.exec({
      command: ["sh", "-c", 'cd "$1" && cat note; cat secret/key token; ls secret; touch new', "sh", readable],
    });
    expect(result.stdout).toBe("hello");
    expect(existsSync(join(readable, "new"))).toBe(false);
  });

  test("a workspace in a hidden folder of a readable one is all that is seen there", async () => {
    const readable = folder();
    const home = join(readable, "home");
    const workspace = join(home, "deep", "workspace");
    execFileSync("mkdir", ["-p", workspace]);
    writeFileSync(join(home, "key"), "canary");
    const { backend } = make();
    await using session = disposable(await backend.open(confine({ workspace, readable: [readable], hidden: [home] })));
    const result = await session.exec({
      command: `cat ${home}/key; cd ${home} && find . | sort; touch key2; echo x >deep/workspace/made`,
    });
    expect(result.stdout).toBe(".\n./deep\n./deep/workspace\n");
    expect(existsSync(join(workspace, "made"))).toBe(true);
    expect(existsSync(join(home, "key2"))).toBe(false);
  });

  test("a command that says it has ended, and hides from signals, leaves no container when its time is up", async () => {
    const { backend, clock, home } = make();
    const confinement = confine();
    const session = await backend.open(confinement);
    const command = "trap '' TERM; echo ended >>/run/svc-report; echo up >up; while :; do sleep 1; done";
    const running = session.exec({ command, timeoutMs: 5000 });
    while (!existsSync(join(confinement.workspace, "up"))) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(left(home)).toHaveLength(1);
    await clock.advance(5000);
    await clock.advance(10_000);
    expect((await running).timedOut).toBe(true);
    await session.close();
    expect(left(home)).toEqual([]);
    expect(execFileSync("ls", [tmpdir()], { encoding: "utf8" })).not.toContain(
      `svc-container-${await ownerOf(process.pid)}`,
    );
  });

  test("what a killed daemon left behind is removed at the next probe: of this home, and of nobody who lives", async () => {
    const home = randomUUID();
    const other = randomUUID();
    // Somebody who has ended, and whose number may be somebody else's by now.
    const dead = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
    const owner = await ownerOf(dead.pid!);
    const ended = once(dead, "exit");
    dead.stdin.end();
    await ended;
    const begin = (whose: string, of: string): string => {
      const name = `svc-container-${whose}-${randomUUID()}`;
      const limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096", "--stop-timeout=0"];
      const args = [
        "run",
        "--detach",
        `--name=${name}`,
        `--label=${labelOf(of)}`,
        "--network=none",
        ...limits,
        image!.name,
        "sleep",
        "600",
      ];
      execFileSync("podman", args, { stdio: "ignore" });
      onTestFinished(() => void execFileSync("podman", ["rm", "--force", "--ignore", name], { stdio: "ignore" }));
      return name;
    };
    const abandoned = begin(owner, home);
    const alive = begin(await ownerOf(process.pid), home);
    const elsewhere = begin(owner, other);
    const { backend, log } = make({ home });
    const probe = await backend.probe(confine(), never);
    expect(reasonOf(probe)).toBe("it is available");
    expect(left(home)).toEqual([alive]);
    expect(left(home)).not.toContain(abandoned);
    expect(left(other)).toEqual([elsewhere]);
    expect(log.text()).toContain("left behind");
  });
});

const disposable = <T extends { close(): Promise<void> }>(session: T): T & AsyncDisposable =>
  Object.assign(session, { [Symbol.asyncDispose]: () => session.close() });
