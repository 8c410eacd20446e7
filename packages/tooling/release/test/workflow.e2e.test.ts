// The first release is the first time that the workflow and the key procedure of SECURITY.md matter, and the wrong time to find out. Both
// are followed in a clone: a key is made and trusted, each `run` step of the workflow is run as it stands there, for one profile and this
// platform, and what it published is verified as users do.
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgram } from "@svc/kit/process";
import { requireReal } from "@svc/testkit/require-real";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { serveFolder } from "./release-fixture.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const work = mkdtempSync(join(tmpdir(), "svc-workflow-"));
const clone = join(work, "svc");
const bin = join(work, "bin");
const published = join(clone, "dist/release");
const text = readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8");
afterAll(() => rmSync(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));

/** The name of each step with a script → the script. */
const steps = new Map(
  [...text.matchAll(/^( +)- name: (.+)\n((?:\1  .*\n|\n)*)/gm)].map(([, , name, body = ""]) => {
    const [, inline, block = ""] = /^ +run: (?:\|\n([^]*)|(.+)\n)/m.exec(body) ?? [];
    const script = inline ?? block;
    const indent = /^ */.exec(script)![0].length;
    return [
      name!,
      script
        .split("\n")
        .map((line) => line.slice(indent))
        .join("\n"),
    ];
  }),
);

const PROFILES = "minimal home standard full";

/** One profile on this platform: the other ones are made by the same lines. */
function narrowed(step: string): string {
  return step
    .replaceAll("${{ matrix.platform }}", "linux-x64")
    .replaceAll(PROFILES, "minimal")
    .replace("--target linux-x64,linux-arm64", "--target linux-x64 --profile minimal");
}

async function run(script: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
    cwd: clone,
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, GITHUB_REF_NAME: "v0.1.0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => (output += part));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${script}\nended with ${String(code)}:\n${output}`);
  return output;
}

const git = (...args: string[]): void =>
  void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@localhost", ...args], {
    cwd: clone,
    stdio: "pipe",
  });

beforeAll(() => {
  execFileSync("git", ["clone", "--quiet", ROOT, clone]);
  mkdirSync(bin);
  // The runner's own: packages of the system are there, and a release is only told.
  for (const [name, script] of [
    ["sudo", "exit 0"],
    ["gh", `printf '%s\\n' "$@" >${work}/published`],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
});

test("the workflow has the steps and the profiles that are known here", () => {
  expect([...steps.keys()]).toEqual(["Build", "Install the packages", "Make the release", "Publish"]);
  expect(text.split(PROFILES)).toHaveLength(3);
  const help = execFileSync(process.execPath, [join(import.meta.dirname, "../src/cli.ts"), "--help"], {
    encoding: "utf8",
  });
  expect(help).toContain(`default: ${PROFILES.replaceAll(" ", ",")}`);
  for (const script of steps.values()) expect(script.trim()).not.toBe("");
});

test("with a new key, its steps make a release that minisign, install.sh and svc update accept", async (context) => {
  for (const name of ["minisign", "dpkg-deb", "rpmbuild", "curl", "openssl"]) {
    if ((await findProgram(name)) === undefined)
      requireReal(context, { name, reason: `it is not installed`, tier: "B" });
  }
  context.skip(process.platform !== "linux" || process.arch !== "x64", "the workflow's own platform");

  // 1. and 2. of SECURITY.md.
  const keys = join(work, "svc-keys");
  execFileSync(process.execPath, [join(import.meta.dirname, "../src/cli.ts"), "--new-key", keys]);
  const publicKey = readFileSync(join(keys, "svc.pub"), "utf8").split("\n")[1]!;
  const releases = join(clone, "releases.json");
  const before = JSON.parse(readFileSync(releases, "utf8")) as { keys: string[] };
  writeFileSync(releases, `${JSON.stringify({ ...before, keys: [...before.keys, publicKey] }, null, 2)}\n`);
  git("commit", "--quiet", "--all", "--message", "chore: trust the new key");
  const secret = readFileSync(join(keys, "svc.key"), "utf8");

  await run(narrowed(steps.get("Build")!));
  // What the upload keeps: contents, and no modes.
  const uploaded = join(work, "uploaded/minimal-linux-x64");
  for (const name of ["svc", "build.json"]) cpSync(join(clone, "dist/minimal-linux-x64", name), join(uploaded, name));
  chmodSync(join(uploaded, "svc"), 0o644);
  rmSync(join(clone, "dist"), { recursive: true });
  await run(steps.get("Install the packages")!);
  cpSync(join(work, "uploaded"), join(clone, "dist"), { recursive: true });
  const output = await run(narrowed(steps.get("Make the release")!), {
    SVC_RELEASE_KEY: secret,
    SERVER: "https://example.org/owner/svc",
  });
  expect(output).toContain(`signed with ${publicKey}`);
  expect(output).not.toContain(secret.split("\n")[1]!);
  await run(steps.get("Publish")!);
  const files = readdirSync(published, { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );
  const [, , tag, ...told] = readFileSync(join(work, "published"), "utf8").trim().split("\n");
  expect(tag).toBe("v0.1.0");
  expect(told.filter((word) => word.startsWith("dist/")).toSorted()).toEqual(
    files.map((name) => `dist/release/${name}`).toSorted(),
  );
  for (const kind of [/\.gz$/, /\.deb$/, /\.rpm$/, /\.tgz$/, /\.rb$/, /^install\.sh$/, /^release\.json\.minisig$/])
    expect(files.some((name) => kind.test(name))).toBe(true);

  // 3. of SECURITY.md.
  const verify = ["-Vm", "SHA256SUMS", "-P", publicKey];
  expect(execFileSync("minisign", verify, { cwd: published, encoding: "utf8" })).toContain(
    "Signature and comment signature verified",
  );
  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: published });
  expect(readFileSync(join(published, "svc.rb"), "utf8")).toContain(
    'url "https://example.org/owner/svc/releases/download/v0.1.0/svc-',
  );

  // The binary and the script hold the key: no option names it.
  await using server = await serveFolder(published);
  const prefix = join(work, "prefix");
  const installed = await run(`sh dist/release/install.sh --from ${server.url} --prefix ${prefix}`);
  expect(installed).toContain("installed svc");
  const checked = await runBinary(["update", "--check", "--json", "--from", server.url], {
    home: work,
    binary: join(prefix, "bin/svc"),
  });
  expect([checked.code, checked.stderr, JSON.parse(checked.stdout)]).toEqual([
    0,
    "",
    expect.objectContaining({ update: false }),
  ]);
  expect(existsSync(join(prefix, "bin/svc"))).toBe(true);
});
