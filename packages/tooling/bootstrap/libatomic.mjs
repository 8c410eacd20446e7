// Node 26 needs libatomic.so.1, which a small Debian or Fedora image lacks. Said before anything is downloaded, with
// the package's name, instead of "error while loading shared libraries" out of the middle of a build.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BootstrapError } from "./progress.mjs";

const soname = "libatomic.so.1";

/**
 * What the check looks at; injected in tests.
 * @typedef {object} Machine
 * @property {string} platform as in process.platform
 * @property {boolean} glibc false on musl systems (Alpine), where the pinned Node cannot run at all
 * @property {() => string} ldconfig the output of `ldconfig -p`, "" when there is no such program
 * @property {(path: string) => boolean} exists
 * @property {string} osRelease the text of /etc/os-release
 * @property {readonly string[]} searchPath LD_LIBRARY_PATH, split
 * @property {boolean} root
 */

/** @returns {Machine} */
function thisMachine() {
  // Otherwise the report resolves the names of all open connections first, for seconds on a bad network.
  Object.assign(process.report, { excludeNetwork: true });
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return {
    platform: process.platform,
    glibc: Boolean(report.header?.glibcVersionRuntime),
    ldconfig: () =>
      spawnSync("ldconfig", ["-p"], {
        encoding: "utf8",
        // An ordinary user's PATH often lacks the sbin directories.
        env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/sbin:/usr/sbin` },
      }).stdout ?? "",
    exists: existsSync,
    osRelease: read("/etc/os-release"),
    searchPath: (process.env["LD_LIBRARY_PATH"] ?? "").split(":").filter(Boolean),
    root: process.getuid?.() === 0,
  };
}

/**
 * Throws a BootstrapError (69) when the pinned Node could not run on this machine.
 * @param {Machine} [machine] default: this one
 */
export function requireLibatomic(machine) {
  if ((machine?.platform ?? process.platform) === "linux") requireOnLinux(machine ?? thisMachine());
}

/** @param {Machine} machine */
function requireOnLinux(machine) {
  if (!machine.glibc) {
    throw new BootstrapError(
      "This Linux has no glibc (musl?): the pinned Node needs glibc 2.28 or newer. Use a Debian, Ubuntu or Fedora based system or container.",
      69,
    );
  }
  if (findLibatomic(machine)) return;
  const { name, command } = libatomicPackage(machine.osRelease, machine.root);
  throw new BootstrapError(`${soname} is missing: Node 26 needs it. Install the package ${name}:\n  ${command}`, 69);
}

/** @param {Machine} machine */
function findLibatomic(machine) {
  if (machine.ldconfig().includes(soname)) return true;
  const bases = ["/lib", "/usr/lib", "/usr/local/lib"];
  const system = ["", "64", "/x86_64-linux-gnu", "/aarch64-linux-gnu"].flatMap((end) =>
    bases.map((base) => base + end),
  );
  return [...machine.searchPath, ...system].some((dir) => machine.exists(join(dir, soname)));
}

/**
 * The package that holds the library, and the command that installs it.
 * @param {string} osRelease the text of /etc/os-release
 * @param {boolean} root
 */
export function libatomicPackage(osRelease, root) {
  const lines = osRelease.matchAll(/^(?:ID|ID_LIKE)="?([^"\n]*)"?$/gmu);
  const ids = new Set([...lines].flatMap((match) => (match[1] ?? "").split(" ")));
  const sudo = root ? "" : "sudo ";
  /** @type {readonly [string, string, string][]} */
  const families = [
    ["debian", "libatomic1", "apt-get install -y libatomic1"],
    ["ubuntu", "libatomic1", "apt-get install -y libatomic1"],
    ["fedora", "libatomic", "dnf install -y libatomic"],
    ["rhel", "libatomic", "dnf install -y libatomic"],
    ["suse", "libatomic1", "zypper install -y libatomic1"],
    ["opensuse", "libatomic1", "zypper install -y libatomic1"],
    ["arch", "gcc-libs", "pacman -S --noconfirm gcc-libs"],
  ];
  const found = families.find(([id]) => ids.has(id));
  return found
    ? { name: found[1], command: sudo + found[2] }
    : {
        name: "libatomic1 (Debian, Ubuntu, SUSE) or libatomic (Fedora, RHEL)",
        command: `${sudo}apt-get install -y libatomic1`,
      };
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
