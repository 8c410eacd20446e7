// The container image holds the binary and its libraries alone, runs without root on a read-only root file system, and keeps its home
// over a new container. Built from a local base: nothing is fetched.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgram } from "@svc/kit/process";
import { freePorts } from "@svc/testkit/real/free-ports";
import { type MissingPart, requireReal } from "@svc/testkit/require-real";
import { missingRootfulEngine, packBase } from "./container-fixture.ts";
import { FILES } from "../src/linux-packages.ts";
import { built } from "./release-fixture.ts";

const work = mkdtempSync(join(tmpdir(), "svc-container-"));
const id = `svc-test-${process.pid}-${Date.now()}`;
const [base, image] = [`localhost/${id}-base`, `localhost/${id}`];
let absent: MissingPart | undefined;

const podman = (...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync("podman", args, { encoding: "utf8", maxBuffer: 1e8 });
  if (status !== 0) throw new Error(`podman ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
};

beforeAll(async () => {
  absent = await missingRootfulEngine();
  if (absent) return;
  packBase(join(work, "base.tar"), join(work, "base"), [built().file]);
  podman("import", join(work, "base.tar"), base);
  const context = join(work, "context");
  mkdirSync(context);
  cpSync(built().file, join(context, "svc"));
  cpSync(join(FILES, "Dockerfile"), join(context, "Dockerfile"));
  podman("build", "--format", "docker", "--build-arg", `BASE=${base}`, "--tag", image, context);
}, 180_000);
afterAll(() => {
  rmSync(work, { recursive: true, force: true });
  if (absent) return;
  spawnSync("podman", ["rm", "--force", "--ignore", id]);
  spawnSync("podman", ["volume", "rm", "--force", id]);
  spawnSync("podman", ["rmi", "--force", image, base]);
});

/** As compose.yaml runs it. No health timer: that needs systemd. No own network: that needs a bridge. */
async function start(port: number): Promise<void> {
  const files = execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim();
  const limits = [`--ulimit=nofile=${files}:${files}`, "--ulimit=nproc=1024:1024"];
  const closed = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs=/tmp"];
  const settings = [`--env=SVC__GATEWAY__PORT=${port}`, "--env=SVC__GATEWAY__HOST=127.0.0.1"];
  podman(
    "run",
    "--detach",
    "--name",
    id,
    ...limits,
    ...closed,
    ...settings,
    "--network=host",
    "--health-interval=disable",
    `--volume=${id}:/data`,
    image,
  );
  while (!logs().includes("listening on")) {
    if (podman("inspect", "--format", "{{.State.Running}}", id) !== "true") throw new Error(logs());
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function logs(): string {
  const { stdout, stderr } = spawnSync("podman", ["logs", id], { encoding: "utf8" });
  return `${stdout}${stderr}`;
}

test("it runs as another user on a read-only root, is healthy, and a new container knows the paired device", async (context) => {
  if (absent) requireReal(context, absent);
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  await start(port!);
  expect(podman("healthcheck", "run", id)).toBe("");
  expect(podman("inspect", "--format", "{{.Config.User}}", id)).toBe("65532:65532");
  const code = /pairing code\D*(\d{6})/i.exec(logs())![1]!;
  // A connection that is kept would be one to the container that goes.
  const once = { connection: "close" };
  const paired = await fetch(`${url}/pair`, { method: "POST", headers: { ...once, "x-pairing-code": code } });
  const { token } = (await paired.json()) as { token: string };
  const say = async (): Promise<unknown> => {
    const headers = { ...once, authorization: `Bearer ${token}`, "content-type": "application/json" };
    return (await fetch(`${url}/webhook`, { method: "POST", headers, body: '{"message":"hello"}' })).json();
  };
  expect(await say()).toMatchObject({ model: "builtin" });
  podman("rm", "--force", id);
  await start(port!);
  expect(await say()).toMatchObject({ model: "builtin" });
});

test("it adds few megabytes to the binary, and has no shell", (context) => {
  if (absent) requireReal(context, absent);
  const bytes = Number(podman("image", "inspect", "--format", "{{.Size}}", image));
  expect((bytes - built().bytes) / 1e6).toBeLessThan(65);
  expect(spawnSync("podman", ["run", "--rm", "--entrypoint=/bin/sh", image, "-c", "true"]).status).not.toBe(0);
});

test("two builds of it have the same layers", (context) => {
  if (absent) requireReal(context, absent);
  const layers = [1, 2].map((count) => {
    const folder = join(work, `again-${count}`);
    mkdirSync(folder);
    for (const name of ["svc", "Dockerfile"]) cpSync(join(work, "context", name), join(folder, name));
    const tag = `${image}-${count}`;
    podman(
      "build",
      "--format=docker",
      "--timestamp=0",
      "--no-cache",
      `--build-arg=BASE=${base}`,
      `--tag=${tag}`,
      folder,
    );
    const found = podman("image", "inspect", "--format", "{{json .RootFS.Layers}}", tag);
    podman("rmi", "--force", tag);
    return found;
  });
  expect(layers[0]).toContain("sha256:");
  expect(layers[1]).toBe(layers[0]);
});

test("Caddy takes the Caddyfile that compose.yaml mounts", async (context) => {
  if ((await findProgram("caddy")) === undefined)
    requireReal(context, { name: "caddy", reason: "apt-get install caddy" });
  const file = join(FILES, "Caddyfile");
  const env = { ...process.env, SVC_DOMAIN: "agent.example.org" };
  const adapted = execFileSync("caddy", ["adapt", "--config", file, "--adapter", "caddyfile"], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  expect(adapted).toContain('"host":["agent.example.org"]');
  expect(adapted).toContain('"dial":"svc:42617"');
  expect(readFileSync(join(FILES, "compose.yaml"), "utf8")).toContain("./Caddyfile:/etc/caddy/Caddyfile:ro");
});
