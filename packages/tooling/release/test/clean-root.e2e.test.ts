// What a release holds is installed into roots that have nothing else: busybox, and the libraries that every system with glibc has.
// No libatomic, no Node, no shell but busybox's. What is installed there answers a turn there.
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { build, targetOf } from "@svc/compose";
import { findProgram } from "@svc/kit/process";
import { type MissingPart, requireReal } from "@svc/testkit/require-real";
import { type Build, readBuild } from "../src/builds.ts";
import { makeRelease } from "../src/release.ts";
import { makeKeyPair, parseSecretKey } from "../src/signing.ts";
import { built, type FileServer, serveFolder, useForOneTurn } from "./release-fixture.ts";

const work = mkdtempSync(join(tmpdir(), "svc-clean-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

async function missing(): Promise<MissingPart | undefined> {
  for (const name of ["busybox", "minisign", "dpkg-deb", "rpmbuild", "rpm2cpio", "ldd"]) {
    if ((await findProgram(name)) === undefined) return { name, reason: "it is not installed", tier: "B" };
  }
  if (process.platform === "linux" && process.geteuid?.() === 0) return undefined;
  return { name: "root", reason: "another root is entered by root", tier: "B" };
}

/** A root with busybox and what the loader finds for `programs`, or the libraries of another processor. */
function cleanRoot(name: string, programs: readonly string[], foreign?: string): string {
  const root = join(work, name);
  for (const folder of ["proc", "dev", "tmp", "own", "lib", "bin", "etc"])
    mkdirSync(join(root, folder), { recursive: true });
  for (const [from, to] of [
    ["lib64", "lib"],
    ["usr/lib64", "../lib"],
  ] as const) {
    mkdirSync(dirname(join(root, from)), { recursive: true });
    symlinkSync(to, join(root, from));
  }
  writeFileSync(join(root, "dev/null"), "");
  copyFileSync(execFileSync("which", ["busybox"], { encoding: "utf8" }).trim(), join(root, "bin/busybox"));
  for (const command of execFileSync("busybox", ["--list"], { encoding: "utf8" }).trim().split("\n"))
    if (command !== "busybox") symlinkSync("busybox", join(root, "bin", command));
  const libraries = foreign
    ? readdirSync(foreign)
        .map((file) => join(foreign, file))
        .filter((file) => /\.so\.\d+$/.test(file))
    : [...execFileSync("ldd", programs, { encoding: "utf8" }).matchAll(/\s(\/\S+)(?= \()/g)].map(([, path]) => path!);
  for (const library of libraries)
    if (!library.includes("libatomic")) copyFileSync(library, join(root, "lib", library.split("/").at(-1)!));
  return root;
}

/** A program that runs `command` in the root, with the environment of its caller and a home inside. */
function entry(root: string, command: string): string {
  const file = `${root}.sh`;
  writeFileSync(file, `#!/bin/sh\nexport SVC_HOME=/own/.svc HOME=/own\nexec chroot '${root}' ${command} "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

describe("this processor", () => {
  let absent: MissingPart | undefined;
  let server: FileServer;
  const release = join(work, "release");
  const artefact = (pattern: RegExp): string =>
    join(
      release,
      readdirSync(release).find((name) => pattern.test(name))!,
    );

  beforeAll(async () => {
    absent = await missing();
    if (absent) return;
    server = await serveFolder(release);
    await makeRelease({
      builds: [built()],
      out: release,
      url: server.url,
      latest: server.url,
      keys: [],
      signing: parseSecretKey(makeKeyPair().secretKey),
      mainProfile: "minimal",
      kinds: ["deb", "rpm", "npm"],
      compression: "fast",
      note: () => {},
    });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  beforeEach((context) => {
    if (absent) requireReal(context, absent);
  });

  /** By the tools of the host, where the root has none of its own. */
  const unpack = (root: string, script: string, file: string): void =>
    void execFileSync("sh", ["-euc", script, file], { cwd: root });

  test.each<[string, (root: string) => string]>([
    [
      "the compressed binary",
      (root) => {
        copyFileSync(artefact(/^svc-.*\.gz$/), join(root, "own/svc.gz"));
        execFileSync("chroot", [root, "/bin/sh", "-euc", "cd /own; gunzip svc.gz; chmod +x svc"]);
        return "/own/svc";
      },
    ],
    [
      ".deb",
      (root) => {
        unpack(root, 'dpkg-deb --extract "$0" .', artefact(/\.deb$/));
        return "/usr/bin/svc";
      },
    ],
    [
      ".rpm",
      (root) => {
        unpack(root, 'rpm2cpio "$0" | busybox cpio -idm 2>/dev/null', artefact(/\.rpm$/));
        return "/usr/bin/svc";
      },
    ],
    [
      "the npm package of the platform",
      (root) => {
        unpack(root, 'tar -xzf "$0"', artefact(new RegExp(`^svc-gateway-${built().target}-.*\\.tgz$`)));
        return "/package/bin/svc";
      },
    ],
  ])("%s answers a turn", async (name, install) => {
    const root = cleanRoot(name.replaceAll(/\W/g, "-"), [built().file]);
    await useForOneTurn(entry(root, install(root)));
    expect(existsSync(join(root, "own/.svc/config.toml"))).toBe(true);
    rmSync(root, { recursive: true });
  });

  test("install.sh, run there by busybox's shell and wget, installs what answers a turn", async () => {
    const minisign = (await findProgram("minisign"))!;
    const root = cleanRoot("install", [built().file, minisign]);
    copyFileSync(minisign, join(root, "bin/minisign"));
    copyFileSync(artefact(/^install\.sh$/), join(root, "own/install.sh"));
    const { code, output } = await runInRoot(root, "cd /own && HOME=/own PATH=/bin sh install.sh");
    expect([code, output]).toEqual([0, expect.stringContaining("installed svc")]);
    await useForOneTurn(entry(root, "/own/.local/bin/svc"));
  });
});

async function runInRoot(root: string, script: string): Promise<{ code: number | null; output: string }> {
  // Not spawnSync: the release is served by this process.
  const child = spawn("chroot", [root, "/bin/sh", "-c", `${script} 2>&1`], { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (output += part));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

test("the build for arm64 answers a turn under qemu, without libatomic", async (context) => {
  const absent = await missing();
  if (absent) requireReal(context, absent);
  context.skip(process.arch === "arm64", "it is this processor's");
  const qemu = await findProgram("qemu-aarch64-static");
  const libraries = "/usr/aarch64-linux-gnu/lib";
  if (qemu === undefined || !existsSync(join(libraries, "libstdc++.so.6")))
    requireReal(context, {
      name: "qemu for arm64",
      reason: "apt-get install qemu-user-static libstdc++6-arm64-cross",
      tier: "B",
    });
  const target = targetOf("linux-arm64");
  const cache = join(import.meta.dirname, "../../../../node_modules/.cache/svc/fetched");
  if (!existsSync(cache) || !readdirSync(cache).some((name) => name.startsWith(target.nodePackage)))
    requireReal(context, {
      name: "Node of linux-arm64",
      reason: "pnpm build minimal --target linux-arm64 fetches it once",
      tier: "B",
    });
  const { dir } = await build({ profile: "minimal", target });
  const arm: Build = readBuild(dir);
  const root = cleanRoot("arm64", [], libraries);
  cpSync(arm.file, join(root, "own/svc"));
  copyFileSync(qemu, join(root, "bin/qemu"));
  expect(readFileSync(join(root, "own/svc")).readUInt16LE(18)).toBe(183);
  expect(readdirSync(join(root, "lib")).some((name) => name.includes("atomic"))).toBe(false);
  await useForOneTurn(entry(root, "/bin/qemu /own/svc"));
});
