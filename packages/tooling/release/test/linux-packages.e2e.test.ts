// The packages are installed, upgraded, removed and purged in a root of their own. Removing must keep the home with its keys and
// messages, purging must ask nothing, and what is installed must answer a turn.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findProgram } from "@svc/kit/process";
import { type MissingPart, requireReal } from "@svc/testkit/require-real";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { makeDeb, makeRpm } from "../src/linux-packages.ts";
import { built, useForOneTurn } from "./release-fixture.ts";

const work = mkdtempSync(join(tmpdir(), "svc-packages-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const NEXT = "99.0.0";

async function missing(...programs: string[]): Promise<MissingPart | undefined> {
  if (process.platform !== "linux" || process.geteuid?.() !== 0)
    return { name: "root", reason: "packages are installed by root", tier: "B" };
  for (const name of programs) {
    if ((await findProgram(name)) === undefined) return { name, reason: "it is not installed", tier: "B" };
  }
  return undefined;
}

const files = (root: string): string[] =>
  [
    "usr/lib/svc/svc",
    "usr/lib/svc/svc.managed-by",
    "usr/lib/systemd/system/svc.service",
    "usr/share/man/man1/svc.1.gz",
    "usr/share/bash-completion/completions/svc",
    "usr/share/zsh/vendor-completions/_svc",
    "usr/share/fish/vendor_completions.d/svc.fish",
  ].map((path) => join(root, path));

async function expectInstalled(root: string): Promise<void> {
  expect(files(root).filter((file) => !existsSync(file))).toEqual([]);
  expect(readlinkSync(join(root, "usr/bin/svc"))).toBe("../lib/svc/svc");
  const binary = join(root, "usr/bin/svc");
  await useForOneTurn(binary);
  const { code, stderr } = await runBinary(["update", "--json"], { home: work, binary });
  expect([code, JSON.parse(stderr)]).toEqual([64, expect.objectContaining({ code: "UPDATE_MANAGED" })]);
}

describe(".deb", () => {
  const root = join(work, "deb-root");
  const debs: string[] = [];
  let absent: MissingPart | undefined;

  beforeAll(async () => {
    absent = await missing("dpkg", "dpkg-deb", "useradd");
    if (absent) return;
    const build = built();
    for (const version of [build.version, NEXT]) {
      const name = await makeDeb({
        build: { ...build, version },
        runnable: build.file,
        out: work,
        compression: "fast",
      });
      debs.push(join(work, name));
    }
    for (const folder of ["var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, "var/lib/dpkg/status"), "");
    for (const [name, mode] of [
      ["passwd", 0o644],
      ["group", 0o644],
      ["shadow", 0o600],
    ] as const)
      writeFileSync(join(root, "etc", name), "", { mode });
  }, 120_000);

  /** Scripts run outside of the root, with DPKG_ROOT; nothing that would answer a question is there. */
  const dpkg = (...args: string[]): string => {
    const options = [`--root=${root}`, "--force-script-chrootless", "--force-depends", "--log=/dev/null"];
    const { status, stdout, stderr } = spawnSync("dpkg", [...options, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect([
      args,
      status,
      stderr.replaceAll(/^dpkg: (?:warning|svc: dependency|.*depends).*\n(?: .*\n)*/gm, ""),
    ]).toEqual([args, 0, expect.any(String)]);
    return stdout;
  };
  const user = (): string | undefined => /^svc:.*$/m.exec(readFileSync(join(root, "etc/passwd"), "utf8"))?.[0];
  const home = join(root, "var/lib/svc");

  test("is installed, upgraded, removed and purged; only a purge deletes the home", async (context) => {
    if (absent) requireReal(context, absent);
    dpkg("--install", debs[0]!);
    await expectInstalled(root);
    const { uid, mode } = statSync(home);
    expect(user()).toContain(`:${uid}:`);
    expect([uid > 0, mode & 0o777, user()]).toEqual([
      true,
      0o700,
      expect.stringContaining("/var/lib/svc:/usr/sbin/nologin"),
    ]);
    writeFileSync(join(home, "config.toml"), "[gateway]\nport = 0\n");

    dpkg("--install", debs[1]!);
    expect(readFileSync(join(root, "var/lib/dpkg/status"), "utf8")).toContain(`Version: ${NEXT}`);
    expect(readdirSync(home)).toEqual(["config.toml"]);
    await expectInstalled(root);

    dpkg("--remove", "svc");
    expect(files(root).filter((file) => existsSync(file))).toEqual([]);
    expect([readdirSync(home), user()]).toEqual([["config.toml"], expect.any(String)]);

    dpkg("--purge", "svc");
    expect([existsSync(home), user()]).toEqual([false, undefined]);
  });

  test("its manual page has every command, and troff takes it without a warning", async (context) => {
    if (absent) requireReal(context, absent);
    const page = join(work, "svc.1");
    execFileSync("sh", [
      "-c",
      `dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/share/man/man1/svc.1.gz | gzip -dc >"$2"`,
      "sh",
      debs[0]!,
      page,
    ]);
    for (const command of ["daemon", "update", "backup"])
      expect(readFileSync(page, "utf8")).toContain(`.B svc ${command}\n`);
    if ((await findProgram("groff")) === undefined)
      requireReal(context, { name: "groff", reason: "apt-get install groff", tier: "B" });
    const { status, stderr } = spawnSync("groff", ["-man", "-Tutf8", "-ww", page], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
});

describe(".rpm", () => {
  test("is installed, upgraded and removed; the home is kept", async (context) => {
    const absent = await missing("rpmbuild", "rpm");
    if (absent) requireReal(context, absent);
    const root = join(work, "rpm-root");
    mkdirSync(root);
    const build = built();
    const packages: string[] = [];
    for (const version of [build.version, NEXT]) {
      const name = await makeRpm({
        build: { ...build, version },
        runnable: build.file,
        out: work,
        compression: "fast",
      });
      packages.push(join(work, name));
    }
    // The root has no shell for scripts, and no other package.
    const rpm = (...args: string[]): string =>
      execFileSync("rpm", ["--root", root, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    const alone = ["--nodeps", "--noscripts"];
    rpm("--install", ...alone, packages[0]!);
    await expectInstalled(root);
    writeFileSync(join(root, "var/lib/svc/config.toml"), "");
    rpm("--upgrade", ...alone, packages[1]!);
    expect(rpm("--query", "svc")).toContain(`svc-${NEXT}-1`);
    expect(rpm("--query", "--scripts", "svc")).toContain("useradd --system");
    await expectInstalled(root);
    rpm("--erase", ...alone, "svc");
    expect(files(root).filter((file) => existsSync(file))).toEqual([]);
    expect(existsSync(join(root, "var/lib/svc/config.toml"))).toBe(true);
  });
});
