// The same with docker: its own service, in a network namespace and with data of its own, so that nothing of it is left on the machine.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Confinement, SandboxSession } from "@svc/contract";
import { findProgram, SANDBOX_USER } from "@svc/kit/process";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { type ContainerImage, makeContainerImage, missingEngine } from "@svc/testkit/real/container-image";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createContainers } from "../src/backend.ts";

const missing = (await missingEngine("docker")) ?? (await missingService());
const root = mkdtempSync("/var/tmp/svc-docker-");
const socket = `unix://${join(root, "sock")}`;
let service: ChildProcess | undefined;
let image: ContainerImage | undefined;

beforeAll(async () => {
  if (missing) return;
  const options = [
    "--data-root",
    join(root, "data"),
    "--exec-root",
    join(root, "exec"),
    "--pidfile",
    join(root, "pid"),
  ];
  const alone = ["--bridge=none", "--iptables=false", "--oom-score-adjust=0", "--host", socket];
  service = spawn("unshare", ["--net", "dockerd", ...options, ...alone], { stdio: "ignore" });
  while (!existsSync(join(root, "sock")) && service.exitCode === null) await pause(20);
  image = makeContainerImage(["docker", "--host", socket]);
  // No podman on this one.
  symlinkSync((await findProgram("docker"))!, join(root, "docker"));
});

afterAll(async () => {
  image?.[Symbol.dispose]();
  if (service && service.exitCode === null) {
    const ended = new Promise((resolve) => service?.once("exit", resolve));
    service.kill("SIGTERM");
    await ended;
  }
  rmSync(root, { recursive: true, force: true });
});

beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

async function missingService() {
  const reason = "dockerd is not installed, or this is not root; apt-get install docker.io";
  const there = process.getuid?.() === 0 && (await findProgram("dockerd")) !== undefined;
  return there ? undefined : ({ name: "dockerd", reason, tier: "B" } as const);
}

function make() {
  const clock = fakeClock();
  const environment = () => ({ PATH: root, DOCKER_HOST: socket, HOME: root });
  const made = createContainers({ image: image!.name, clock, homeFolder: root, log: captureLogger(), environment });
  return { backend: made, clock };
}

function confine(more: Partial<Confinement> = {}): Confinement {
  const workspace = mkdtempSync("/var/tmp/svc-containers-");
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
  chownSync(workspace, SANDBOX_USER.uid, SANDBOX_USER.gid);
  const limits = { memoryMb: 64, pids: 16, cpuSecs: 1 };
  return { workspace, network: false, readable: [], writable: [], hidden: [], limits, user: SANDBOX_USER, ...more };
}

async function open(confinement = confine()) {
  const { backend, clock } = make();
  const session: SandboxSession = await backend.open(confinement);
  onTestFinished(() => session.close());
  return { session, clock, confinement };
}

const left = (): string[] =>
  execFileSync("docker", ["--host", socket, "ps", "--all", "--format={{.Names}}"], { encoding: "utf8" })
    .split("\n")
    .filter(Boolean);

test("its probe finds that it confines, and holds every limit", async () => {
  const { backend } = make();
  const probe = await backend.probe(confine(), new AbortController().signal);
  expect(probe).toMatchObject({ available: true, unenforced: [] });
  expect(JSON.stringify(probe)).toContain("containers of docker");
});

test("commands are whom they should be, write to the workspace and have no capability", async () => {
  const { session, confinement } = await open();
  const { stdout } = await session.exec({
    command: "id -u; echo made >made; grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status",
  });
  expect(stdout.split(/\s+/)).toEqual([
    String(SANDBOX_USER.uid),
    "CapEff:",
    "0000000000000000",
    "NoNewPrivs:",
    "1",
    "Seccomp:",
    "2",
    "",
  ]);
  expect(statSync(join(confinement.workspace, "made")).uid).toBe(SANDBOX_USER.uid);
});

test("the proxies of docker's own settings, with their passwords, are not seen", async () => {
  const settings = join(root, ".docker");
  execFileSync("mkdir", ["-p", settings]);
  onTestFinished(() => rmSync(settings, { recursive: true }));
  const proxies = { default: { httpProxy: "http://user:canary@proxy.test", noProxy: "canary" } };
  writeFileSync(join(settings, "config.json"), JSON.stringify({ proxies }));
  const { session } = await open();
  const { stdout } = await session.exec({ command: "env; tr '\\0' '\\n' </proc/1/environ" });
  expect(stdout).not.toContain("canary");
  expect((await session.exec({ command: "env" })).stdout).not.toMatch(/proxy/i);
});

test.each([
  ["memoryMb", "head -c 200000000 /dev/zero | tail >/dev/null"],
  ["pids", "for i in $(seq 40); do sleep 5 & done; wait"],
  ["cpuSecs", "while :; do :; done"],
])("%s: what goes beyond is stopped, and told", async (limit, command) => {
  const { session } = await open();
  const result = await session.exec({ command });
  expect(result).toMatchObject({ limit });
  expect(result.exitCode).not.toBe(0);
});

test("neither a time-out nor an abort leaves a container", async () => {
  const { session, clock, confinement } = await open();
  const up = async (): Promise<void> => {
    const file = join(confinement.workspace, "up");
    while (!existsSync(file)) await pause(20);
    rmSync(file);
  };
  const running = session.exec({
    command: "trap '' TERM; echo ended >>/run/svc-report; echo >up; sleep 60",
    timeoutMs: 1000,
  });
  await up();
  expect(left()).toHaveLength(1);
  await clock.advance(1000);
  await clock.advance(10_000);
  expect((await running).timedOut).toBe(true);
  const caller = new AbortController();
  const aborted = session.exec({ command: "trap '' TERM; echo >up; sleep 60", signal: caller.signal });
  const outcome = aborted.catch((error: unknown) => String(error));
  await up();
  caller.abort(new Error("enough"));
  await clock.advance(10_000);
  expect(await outcome).toContain("enough");
  await session.close();
  expect(left()).toEqual([]);
});
