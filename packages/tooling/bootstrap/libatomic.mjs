// The pinned Node loads libatomic.so.1, which small images lack. Where it is missing, the processes that the bootstrap starts
// get a library of this repository's own. The binaries that are built need neither.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { atomicLibrary, soname } from "./atomic-exchange.mjs";
import { BootstrapError } from "./progress.mjs";

/**
 * What the check looks at; injected in tests.
 * @typedef {object} Machine
 * @property {string} platform as in process.platform
 * @property {string} arch as in process.arch
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
    arch: process.arch,
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
 * Lets the pinned Node start in processes that this one starts from now on.
 * @param {string} checkout
 * @param {{ machine?: Machine, env?: NodeJS.ProcessEnv }} [options] default: this machine, and this process's environment
 * @throws {BootstrapError} 69 when the pinned Node can't run on this machine
 */
export function provideLibatomic(checkout, { machine = thisMachine(), env = process.env } = {}) {
  if (machine.platform !== "linux") return;
  if (!machine.glibc) {
    throw new BootstrapError(
      "This Linux has no glibc (musl?): the pinned Node needs glibc 2.28 or newer. Use a Debian, Ubuntu or Fedora based system or container.",
      69,
    );
  }
  if (findLibatomic(machine)) return;
  const library = atomicLibrary(machine.arch);
  if (library === undefined) {
    const { name, command } = libatomicPackage(machine.osRelease, machine.root);
    throw new BootstrapError(`${soname} is missing: Node 26 needs it. Install the package ${name}:\n  ${command}`, 69);
  }
  const folder = join(checkout, "dist", ".lib");
  mkdirSync(folder, { recursive: true });
  // Another process may load it at this moment.
  const file = join(folder, soname);
  writeFileSync(`${file}.${process.pid}`, library);
  renameSync(`${file}.${process.pid}`, file);
  env["LD_LIBRARY_PATH"] = [folder, ...machine.searchPath].join(":");
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
