// compose.yaml is what people put on the internet: svc reachable through Caddy alone, over TLS, its data in a volume. The commands of
// docs/guide/container.md are run as they stand there, by podman-compose in place of Docker, in a network and with a storage of their own.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { findProgram } from "@svc/kit/process";
import { type MissingPart, requireReal } from "@svc/testkit/require-real";
import { makeRelease } from "../src/release.ts";
import { missingRootfulEngine, packBase } from "./container-fixture.ts";
import { built } from "./release-fixture.ts";

const work = realpathSync(mkdtempSync(join(tmpdir(), "svc-compose-")));
const folder = join(work, `dist/release/container-${built().target}`);
const [base, caddyImage] = ["localhost/base", "localhost/caddy"];
let absent: MissingPart | undefined;
let host: Host;

/** The page's blocks of one section, with a name that Caddy signs for itself. */
function page(section: string): string {
  const text = readFileSync(join(import.meta.dirname, "../../../../docs/guide/container.md"), "utf8");
  const part = text.split("\n## ").find((each) => each.startsWith(`${section}\n`));
  const blocks = [...(part ?? "").matchAll(/^```sh\n([^]*?)\n```$/gm)].map(([, block]) => block);
  if (blocks.length === 0) throw new Error(`the page has no commands in "${section}"`);
  return blocks.join("\n").replaceAll("agent.example.org", "localhost");
}

interface Host {
  /** Runs a script of bash there. Throws with its output unless it ends with `code`. */
  run(script: string, options?: { readonly cwd?: string; readonly code?: number }): string;
  close(): Promise<void>;
}

/** Ports, processes, mounts, containers, images and volumes of its own: nothing of it is left, or meets this machine's. */
async function openHost(): Promise<Host> {
  const bin = join(work, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "docker"), '#!/bin/sh\n[ "$1" = compose ] && shift && exec podman-compose "$@"\nexit 64\n');
  chmodSync(join(bin, "docker"), 0o755);
  const files = execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim();
  const containers = [
    `[containers]\ndefault_ulimits = ["nofile=${files}:${files}", "nproc=1024:1024"]`,
    `[engine]\ntmp_dir = "${work}/engine"\nevents_logger = "none"\ncgroup_manager = "cgroupfs"`,
    `[network]\nnetwork_config_dir = "${work}/networks"\n`,
  ];
  writeFileSync(join(work, "containers.conf"), containers.join("\n"));
  const storage = `[storage]\ndriver = "overlay"\ngraphroot = "${work}/storage"\nrunroot = "${work}/run"\n`;
  writeFileSync(join(work, "storage.conf"), storage);
  const setUp = [
    "mount --make-rprivate /",
    "for each in /var/lib/cni /run/containers; do mkdir -p $each; mount -t tmpfs tmpfs $each; done",
    "ip link set lo up",
    "echo ready",
    "cat >/dev/null",
  ];
  const own = ["--net", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child"];
  const holder = spawn("unshare", [...own, "sh", "-euc", setUp.join("\n")], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => holder.once("exit", resolve));
  await new Promise((resolve, reject) => {
    holder.stdout.once("data", resolve);
    void exited.then(() => reject(new Error("the namespaces could not be made")));
  });
  const inside = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8").trim();
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: work,
    CONTAINERS_CONF: join(work, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(work, "storage.conf"),
    BUILDAH_FORMAT: "docker",
    BASE: base,
    CADDY_IMAGE: caddyImage,
  };
  return {
    run(script, { cwd = work, code = 0 } = {}) {
      const enter = ["--target", inside, "--net", "--mount", "--pid", "bash", "-euo", "pipefail", "-c"];
      const all = `exec 2>&1 </dev/null\ncd "$0"\n${script}`;
      const { status, stdout } = spawnSync("nsenter", [...enter, all, cwd], { env, encoding: "utf8", maxBuffer: 1e8 });
      if (status !== code) throw new Error(`${script}\nended with ${status}:\n${stdout}`);
      return stdout;
    },
    async close() {
      holder.kill("SIGKILL");
      await exited;
    },
  };
}

const DNS_PLUGIN = "/usr/lib/cni/dnsname";

async function missing(): Promise<MissingPart | undefined> {
  const engine = await missingRootfulEngine();
  if (engine) return engine;
  for (const name of ["caddy", "curl", "nsenter", "ip"]) {
    if ((await findProgram(name)) === undefined) return { name, reason: "it is not installed", tier: "B" };
  }
  if ((await findProgram("podman-compose")) === undefined || !existsSync(DNS_PLUGIN)) {
    const reason = "apt-get install podman-compose golang-github-containernetworking-plugin-dnsname";
    return { name: "podman-compose", reason, tier: "B" };
  }
  return undefined;
}

beforeAll(async () => {
  absent = await missing();
  if (absent) return;
  const where = { url: "https://releases.invalid/svc", latest: "https://releases.invalid/svc", keys: [] };
  const kinds = ["container"] as const;
  await makeRelease({
    ...where,
    builds: [built()],
    out: join(work, "dist/release"),
    signing: undefined,
    mainProfile: "minimal",
    kinds,
    compression: "fast",
    note: () => {},
  });
  const caddy = realpathSync((await findProgram("caddy"))!);
  packBase(join(work, "base.tar"), join(work, "base"), [built().file, caddy]);
  mkdirSync(join(work, "caddy"));
  copyFileSync(caddy, join(work, "caddy/caddy"));
  // As the official image: its command, and its folders.
  writeFileSync(
    join(work, "caddy/Dockerfile"),
    `FROM ${base}
COPY caddy /usr/bin/caddy
ENV PATH=/usr/bin:/bin XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
`,
  );
  host = await openHost();
  host.run(`podman import ${work}/base.tar ${base}\npodman build --tag ${caddyImage} caddy`);
});
afterAll(async () => {
  await host?.close();
  rmSync(work, { recursive: true, force: true });
});
beforeEach((context) => {
  if (absent) requireReal(context, absent);
});

const untilHealthy = `until podman healthcheck run "$(podman ps --quiet --filter label=com.docker.compose.service=svc)"; do sleep 0.1; done`;
const id = (service: string): string =>
  host.run(`podman ps --quiet --filter label=com.docker.compose.service=${service}`).trim();

/** curl, as a visitor who trusts Caddy's own authority. The answer's body. */
const visit = (path: string, options = "", code = 0): string =>
  host.run(`curl --silent --show-error --max-time 60 --cacert authority.pem ${options} https://localhost${path}`, {
    code,
  });
const bearer = (token: string): string => `--header "Authorization: Bearer ${token}"`;
const json = `--header "Content-Type: application/json"`;
let token = "";

test("it refuses to start without a host name", () => {
  expect(host.run("docker compose up -d --build", { cwd: folder, code: 1 })).toContain("set it to the host name");
});

test("the page's commands start both; a device pairs and has a message answered through Caddy", () => {
  const script = page("Run it behind Caddy").replace("docker compose logs", `${untilHealthy}\ndocker compose logs`);
  const output = host.run(script);
  const code = /pairing code\D*(\d{6})/i.exec(output)?.[1];
  host.run(`until podman exec ${id("caddy")} cat /data/caddy/pki/authorities/local/root.crt >authority.pem; do sleep 0.1; done
until curl --silent --fail --cacert authority.pem https://localhost/health; do sleep 0.1; done`);
  ({ token } = JSON.parse(visit("/pair", `--request POST --header "X-Pairing-Code: ${code}"`)) as { token: string });
  const answer: unknown = JSON.parse(visit("/webhook", `${bearer(token)} ${json} --data '{"message":"hello"}'`));
  expect(answer).toMatchObject({ model: "builtin", response: expect.stringContaining("hello") });
  expect(
    host.run("curl --silent --output redirected --write-out '%{http_code} %{redirect_url}' http://localhost/x"),
  ).toBe("308 https://localhost/x");
});

test("svc is confined as compose.yaml says, and only Caddy's ports are published", () => {
  const [inspected] = JSON.parse(host.run(`podman inspect ${id("svc")}`)) as [
    {
      Config: { User: string };
      EffectiveCaps: string[] | null;
      HostConfig: object;
      NetworkSettings: { Ports: object };
    },
  ];
  expect(inspected).toMatchObject({
    Config: { User: "65532:65532" },
    HostConfig: {
      ReadonlyRootfs: true,
      SecurityOpt: expect.arrayContaining(["no-new-privileges"]),
      RestartPolicy: { Name: "unless-stopped" },
    },
  });
  expect(inspected.EffectiveCaps ?? []).toEqual([]);
  expect(Object.values(inspected.NetworkSettings.Ports).filter(Boolean)).toEqual([]);
  expect(host.run("curl --silent --max-time 5 http://127.0.0.1:42617/health", { code: 7 })).toBe("");
});

test("an event arrives through Caddy while the stream is open", () => {
  const stream = `curl --silent --no-buffer --max-time 120 --cacert authority.pem ${bearer(token)} https://localhost/api/events`;
  // grep ends at the event, the pipe breaks, and curl ends with it: a response that is held back until its end would never show.
  const output = host.run(`${stream} >events.txt &
reader=$!
until grep --quiet '^id:' events.txt; do sleep 0.05; done
curl --silent --cacert authority.pem ${bearer(token)} ${json} --data '{"message":"second"}' https://localhost/webhook >answer.txt
until grep --quiet '^event: turn-end' events.txt; do kill -0 $reader; sleep 0.05; done
kill $reader
cat events.txt`);
  expect(output).toContain("event: turn-start");
});

test("the everyday commands of the page work inside the container", () => {
  const output = host.run(page("Everyday commands"), { cwd: folder });
  expect(output).toContain("public    https://localhost");
  expect(output).toMatch(/pairing code: \d{6}/);
  expect(output).toContain("/data/backup.tar.gz");
});

test("a newer version keeps the paired device and its data", () => {
  const before = id("svc");
  host.run(`${page("A newer version")}\n${untilHealthy}`, { cwd: folder });
  expect(id("svc")).not.toBe(before);
  const health = `until curl --silent --fail --cacert authority.pem https://localhost/health; do sleep 0.1; done`;
  host.run(health);
  expect(JSON.parse(visit("/webhook", `${bearer(token)} ${json} --data '{"message":"third"}'`))).toMatchObject({
    model: "builtin",
  });
  expect(visit("/api/sessions", bearer(token))).toContain("session");
});

test("a visitor who guesses codes is locked out, whatever address the request claims, and no one else is", () => {
  const guess = (claimed: string): string =>
    host.run(
      `curl --silent --output guess.json --write-out '%{http_code}' --cacert authority.pem --request POST \
--header "X-Pairing-Code: 000000" --header "X-Forwarded-For: ${claimed}" https://localhost/pair`,
    );
  for (let last = 1; last <= 6; last += 1) guess(`203.0.113.${last}`);
  expect(guess("203.0.113.7")).toBe("429");
  // From Caddy's own place on the network: what Caddy says of another visitor counts.
  const other = host.run(
    `podman exec ${id("caddy")} wget -q -O - --post-data= --header "Host: localhost" --header "X-Pairing-Code: 000000" \
--header "X-Forwarded-For: 203.0.113.8" http://svc:42617/pair`,
    { code: 1 },
  );
  expect(other).toMatch(/HTTP\/1.1 4(?!29)/);
});
