/** `.deb` by dpkg-deb, `.rpm` by rpmbuild, both of one tree of files. */
import { execFile } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lstatSync,
  lutimesSync,
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
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { SvcError } from "@svc/contract";
import type { Build, Compression } from "./builds.ts";
import { manPage } from "./man-page.ts";

const run = promisify(execFile);
export const FILES = join(import.meta.dirname, "../files");
const LICENSE = join(import.meta.dirname, "../../../../LICENSE");
const MAINTAINER = "The svc project <svc@localhost>";
const DESCRIPTION = "self-hosted agent gateway";

const ARCHITECTURES: Readonly<Record<string, { deb: string; rpm: string }>> = {
  "linux-x64": { deb: "amd64", rpm: "x86_64" },
  "linux-arm64": { deb: "arm64", rpm: "aarch64" },
};

export interface LinuxPackageOptions {
  readonly build: Build;
  /** A binary of the same sources that runs here: it prints help and completions. */
  readonly runnable: string;
  readonly out: string;
  readonly compression?: Compression;
}

/** The file's name in `out`. Throws BUILD_FAILED. */
export async function makeDeb({ build, runnable, out, compression = "small" }: LinuxPackageOptions): Promise<string> {
  using tree = await makeTree(build, runnable, "sudo apt-get install --only-upgrade svc");
  const { deb: architecture } = architectureOf(build);
  const control = join(tree.root, "DEBIAN");
  mkdirSync(control);
  const text = [
    "Package: svc",
    `Version: ${debianVersion(build.version)}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${MAINTAINER}`,
    `Installed-Size: ${Math.ceil(build.bytes / 1024)}`,
    "Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6, passwd",
    "Section: net",
    "Priority: optional",
    `Description: ${DESCRIPTION}`,
    " Chat providers, mail, phone, hardware and local programs send messages; an",
    " agent takes a turn and answers where the message came from.",
    ` This is the build with the profile ${build.profile}.`,
    "",
  ];
  writeFileSync(join(control, "control"), text.join("\n"));
  for (const name of ["postinst", "prerm", "postrm"]) copy(join(FILES, name), join(control, name), 0o755);
  settleTree(tree.root);
  const name = `svc-${build.profile}_${debianVersion(build.version)}_${architecture}.deb`;
  await tool("dpkg-deb", [
    "--root-owner-group",
    ...(compression === "small" ? ["-Zxz", "-z1"] : ["-Znone"]),
    "--build",
    tree.root,
    join(out, name),
  ]);
  return name;
}

/** The file's name in `out`. Throws BUILD_FAILED. */
export async function makeRpm({ build, runnable, out, compression = "small" }: LinuxPackageOptions): Promise<string> {
  using tree = await makeTree(build, runnable, "sudo dnf upgrade svc");
  using work = scratch("svc-rpm-");
  const { rpm: architecture } = architectureOf(build);
  const [version, pre] = build.version.split(/-(.*)/s) as [string, string | undefined];
  const spec = [
    "Name: svc",
    `Version: ${version}`,
    `Release: ${pre === undefined ? "1" : `0.${pre.replaceAll("-", ".")}`}`,
    `Summary: ${DESCRIPTION}`,
    "License: MIT",
    "Requires(pre): shadow-utils",
    // What the binary asks for is there on every system with this glibc; the shell is of the scripts.
    "AutoReqProv: no",
    "Requires: glibc >= 2.28, libstdc++",
    // The binary holds its program behind the ELF sections, which strip would cut off.
    "%global __os_install_post %{nil}",
    "%global debug_package %{nil}",
    // They name the build of Node in the binary: another package with the same Node would be in conflict.
    "%global _build_id_links none",
    "%description",
    `An agent takes a turn and answers where a message came from. Profile ${build.profile}.`,
    "%pre",
    "getent passwd svc >/dev/null || useradd --system --user-group --home-dir /var/lib/svc --no-create-home --shell /sbin/nologin svc",
    "%post",
    "[ ! -d /run/systemd/system ] || systemctl daemon-reload",
    "%preun",
    "if [ $1 = 0 ] && [ -d /run/systemd/system ]; then systemctl disable --now svc.service; fi",
    "%postun",
    "if [ -d /run/systemd/system ]; then systemctl daemon-reload; [ $1 = 0 ] || systemctl try-restart svc.service; fi",
    "%files",
    ...filesOf(tree.root).map((file) => `"/${file}"`),
    "%attr(0700, svc, svc) %dir /var/lib/svc",
    "",
  ];
  writeFileSync(join(work.root, "svc.spec"), spec.join("\n"));
  mkdirSync(join(tree.root, "var/lib/svc"), { recursive: true });
  settleTree(tree.root);
  const define = (name: string, value: string): string[] => ["--define", `${name} ${value}`];
  await tool("rpmbuild", [
    "-bb",
    ...define("_topdir", work.root),
    ...define("_rpmdir", work.root),
    ...define("_build_name_fmt", "svc.rpm"),
    ...define("_binary_payload", compression === "small" ? "w6.gzdio" : "w.ufdio"),
    ...define("use_source_date_epoch_as_buildtime", "1"),
    ...define("source_date_epoch_from_changelog", "0"),
    ...define("clamp_mtime_to_source_date_epoch", "1"),
    ...define("_buildhost", "localhost"),
    "--buildroot",
    tree.root,
    "--target",
    `${architecture}-linux`,
    join(work.root, "svc.spec"),
  ]);
  const name = `svc-${build.profile}-${build.version}.${architecture}.rpm`;
  cpSync(join(work.root, "svc.rpm"), join(out, name));
  return name;
}

interface Scratch extends Disposable {
  readonly root: string;
}

function scratch(prefix: string): Scratch {
  const root = mkdtempSync(join(tmpdir(), prefix));
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

/** What both packages install. */
async function makeTree({ file, version }: Build, runnable: string, update: string): Promise<Scratch> {
  const tree = scratch("svc-tree-");
  const at = (path: string): string => join(tree.root, path);
  chmodSync(tree.root, 0o755);
  const write = (path: string, bytes: string | Buffer): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), bytes, { mode: 0o644 });
  };
  const ask = async (...words: string[]): Promise<string> =>
    (await run(runnable, words, { env: { NO_COLOR: "1", SVC_HOME: at("none") } })).stdout;
  copy(file, at("usr/lib/svc/svc"), 0o755);
  write("usr/lib/svc/svc.managed-by", `${update}\n`);
  mkdirSync(at("usr/bin"), { recursive: true });
  symlinkSync("../lib/svc/svc", at("usr/bin/svc"));
  write("usr/lib/systemd/system/svc.service", readFileSync(join(FILES, "svc.service")));
  write("usr/share/man/man1/svc.1.gz", gzipSync(manPage(await ask("--help"), version)));
  write("usr/share/doc/svc/copyright", readFileSync(LICENSE));
  write("usr/share/bash-completion/completions/svc", await ask("completions", "bash"));
  write("usr/share/zsh/vendor-completions/_svc", `#compdef svc\n${await ask("completions", "zsh")}`);
  write("usr/share/fish/vendor_completions.d/svc.fish", await ask("completions", "fish"));
  return tree;
}

/** Modes and times as every machine has them: packages of the same files are the same bytes, and a strict umask breaks none. */
export function settleTree(root: string): void {
  for (const path of ["", ...readdirSync(root, { recursive: true, encoding: "utf8" })]) {
    const file = join(root, path);
    const entry = lstatSync(file);
    if (!entry.isSymbolicLink()) chmodSync(file, entry.isDirectory() || (entry.mode & 0o100) !== 0 ? 0o755 : 0o644);
    lutimesSync(file, 0, 0);
  }
}

function copy(from: string, to: string, mode: number): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
  chmodSync(to, mode);
}

const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .toSorted();

function architectureOf({ target }: Build): { deb: string; rpm: string } {
  const found = ARCHITECTURES[target];
  if (found) return found;
  throw new SvcError("USAGE", `There is no .deb or .rpm for ${target}.`);
}

/** A pre-release is older than its release: Debian writes that with a tilde. */
const debianVersion = (version: string): string => version.replace("-", "~");

async function tool(file: string, args: readonly string[]): Promise<void> {
  try {
    // The time in a package's own records.
    await run(file, args, { env: { ...process.env, SOURCE_DATE_EPOCH: "0" } });
  } catch (cause) {
    const { stderr = "", code } = cause as { stderr?: string; code?: string | number };
    throw new SvcError("BUILD_FAILED", `${file} failed.\n  ${stderr.trim()}`, {
      hint: code === "ENOENT" ? `${file} is not installed.` : "See what it printed.",
      cause,
    });
  }
}
