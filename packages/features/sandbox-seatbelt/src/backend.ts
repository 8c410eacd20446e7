import { type ChildProcess, spawn } from "node:child_process";
import { realpath } from "node:fs/promises";
import type { Readable } from "node:stream";
import {
  type Clock,
  type Confinement,
  type SandboxBackend,
  type SandboxLimit,
  type SandboxSession,
  SvcError,
} from "@svc/contract";
import { makeScratch } from "@svc/kit/files";
import {
  confinedSession,
  findProgram,
  limitBySigns,
  proveConfinement,
  reasonOf,
  withoutDescriptors,
} from "@svc/kit/process";
import { dirname } from "node:path";

export interface SeatbeltOptions {
  readonly clock: Pick<Clock, "after">;
  /** Default: this machine's. */
  readonly platform?: NodeJS.Platform;
}

/** sandbox-exec of macOS around commands. Throws SANDBOX_UNAVAILABLE where it can't be. */
export function createSeatbelt({ clock, platform = process.platform }: SeatbeltOptions): SandboxBackend {
  const open = async (confinement: Confinement): Promise<SandboxSession> => {
    if (platform !== "darwin") throw unavailable("Seatbelt is not for this system: it is a part of macOS.");
    const program = await findProgram("sandbox-exec", "/usr/bin");
    if (program === undefined) throw unavailable("This macOS has no /usr/bin/sandbox-exec any more.");
    return seatbeltSession(program, confinement, clock);
  };
  return {
    id: "seatbelt",
    open,
    async probe(confinement, signal) {
      try {
        const objection = await proveConfinement({ open, confinement, signal, offline: OFFLINE });
        if (objection !== undefined) return { available: false, reason: objection };
        const unenforced = NOT_HELD.filter((limit) => confinement.limits[limit] !== undefined);
        return { available: true, unenforced, notes: [GETS_AWAY] };
      } catch (error) {
        signal.throwIfAborted();
        return { available: false, reason: reasonOf(error) };
      }
    },
  };
}

const unavailable = (message: string): SvcError => new SvcError("SANDBOX_UNAVAILABLE", message);

/** macOS ignores RLIMIT_AS, and RLIMIT_NPROC counts all processes of a user. */
const NOT_HELD: readonly SandboxLimit[] = ["memoryMb", "pids"];

const GETS_AWAY =
  "A command that starts a new session may outlive its call, still confined: macOS has no control groups.";

/** The profile refuses every connection, to this machine too; the message tells a refusal from a port without a listener. */
const OFFLINE = `case "$( { /usr/bin/nc -z 127.0.0.1 9; } 2>&1; /bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>&1)" in *"not permitted"*) echo offline;; esac`;

/** For `sh -c`: says by descriptor 3 that it is inside, limits processor time and becomes the command. */
const ENTRY = withoutDescriptors(
  `ulimit -c 0; [ "$1" = - ] || ulimit -S -t "$1" || exit 1; shift; echo began >&3; exec 3>&-; exec "$@"`,
  [3],
);

async function seatbeltSession(
  program: string,
  confinement: Confinement,
  clock: Pick<Clock, "after">,
): Promise<SandboxSession> {
  const { user, limits } = confinement;
  const temporary = await makeScratch({ prefix: "svc-seatbelt-", owner: user });
  const began = new WeakSet<ChildProcess>();
  try {
    const profile = profileOf({ ...confinement, ...(await realPaths(confinement)), temporary: temporary.path });
    return confinedSession(
      confinement,
      {
        start({ words, folder, env, hasInput }) {
          const entry = ["/bin/sh", "-c", ENTRY, "sh", limits.cpuSecs === undefined ? "-" : String(limits.cpuSecs)];
          const child = spawn(program, ["-p", profile, ...entry, ...words], {
            cwd: folder,
            env: { ...env, TMPDIR: temporary.path },
            stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", "pipe"],
            detached: true,
            ...user,
          });
          const way = child.stdio[3] as Readable;
          way.on("error", () => undefined).on("data", () => began.add(child));
          return child;
        },
        judge(result, child) {
          if (!began.has(child) && !result.timedOut) throw unavailable("sandbox-exec did not start the command.");
          const limit = limitBySigns(result, { ...(limits.cpuSecs !== undefined && { cpuSecs: limits.cpuSecs }) });
          return limit ? { ...result, limit } : result;
        },
        close: temporary.dispose,
      },
      { clock },
    );
  } catch (error) {
    await temporary.dispose();
    throw error;
  }
}

/** The kernel compares paths without links. A hidden path that does not exist is hidden under its future real path. */
async function realPaths({ workspace, readable, writable, hidden }: Confinement) {
  const existing = async (paths: readonly string[]): Promise<string[]> => {
    const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
    return real.filter((path) => path !== undefined);
  };
  return {
    workspace: await realpath(workspace),
    readable: await existing(readable),
    writable: await existing(writable),
    hidden: [...new Set([...hidden, ...(await existing(hidden))])],
  };
}

/** The profile of one confinement. */
export interface Profiled extends Pick<Confinement, "workspace" | "network" | "readable" | "writable" | "hidden"> {
  /** A temporary folder of the session's own. */
  readonly temporary: string;
}

/** All paths are real ones. Rules come from the general to the special: of those that match, the last one holds. */
export function profileOf({ workspace, network, readable, writable, hidden, temporary }: Profiled): string {
  const secret = [...ALWAYS_HIDDEN, ...hidden.filter((path) => path !== workspace)];
  const inWorkspace = secret.filter((path) => isBelow(path, workspace));
  const around = [...readable, ...writable, temporary, workspace].flatMap(above);
  return [
    "(version 1)",
    "(deny default)",
    ...FOR_PROGRAMS,
    ...(network ? FOR_NETWORK : []),
    ...readable.map((path) => allow("file-read*", subpath(path))),
    ...[...writable, temporary].map(open),
    ...secret.map(hide),
    // It may lie in something hidden, and something hidden in it.
    open(workspace),
    ...inWorkspace.map(hide),
    // Resolving the path of a folder reads the metadata of its parents.
    allow("file-read-metadata", ...[...new Set(around)].map(literal)),
    "",
  ].join("\n");
}

const open = (path: string): string => allow("file-read* file-write*", subpath(path));
const hide = (path: string): string => deny("file-read* file-write*", subpath(path));

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder === "/" ? "/" : `${folder}/`);

function above(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...above(parent), parent];
}

// Files that every macOS program needs to start.

// The language of sandbox profiles: a dialect of Scheme. There is no reference by its maker; what is used here is in the profiles of macOS
// (/System/Library/Sandbox/Profiles), in https://reverse.put.as/wp-content/uploads/2011/09/Apple-Sandbox-Guide-v1.0.pdf and
// https://chromium.googlesource.com/chromium/src/+/main/sandbox/policy/mac/common.sb. Of the rules that match, the last one holds.

/** `(allow file-read* …filters)`: any of the filters, or everything without one. */
const allow = (operation: string, ...filters: readonly string[]): string => rule("allow", operation, filters);
const deny = (operation: string, ...filters: readonly string[]): string => rule("deny", operation, filters);

const rule = (action: string, operation: string, filters: readonly string[]): string =>
  `(${[action, operation, ...filters].join(" ")})`;

/** A folder with all that is in it, or a file. By its real path: the kernel knows no other (`/tmp` is `/private/tmp`). */
const subpath = (path: string): string => `(subpath ${text(path)})`;
/** This path alone. */
const literal = (path: string): string => `(literal ${text(path)})`;
/** A filter on something that has a name. */
const named = (filter: string, name: string): string => `(${filter} ${text(name)})`;

/**
 * A string. Within it only the quote and the backslash mean something: https://tinyscheme.sourceforge.net (`readstrexp`).
 * Throws SANDBOX_UNAVAILABLE for a NUL, which would end it.
 */
function text(value: string): string {
  if (value.includes("\0")) throw new SvcError("SANDBOX_UNAVAILABLE", "A path can't contain a NUL character.");
  return `"${value.replace(/["\\]/g, (sign) => `\\${sign}`)}"`;
}

/** Programs, libraries and their resources; no user's files. */
const SYSTEM = [
  "/Applications/Xcode.app/Contents/Developer",
  "/Library/Apple",
  "/Library/Developer",
  "/Library/Frameworks",
  "/Library/Java",
  "/Library/Perl",
  "/Library/Ruby",
  "/System",
  "/bin",
  "/opt/homebrew",
  "/opt/local",
  "/private/etc",
  "/private/var/db/dyld",
  "/private/var/db/timezone",
  "/private/var/select",
  "/sbin",
  "/usr",
];

/** Root may read these without being asked for more. */
const SECRETS = ["/private/etc/master.passwd", "/private/etc/ssh", "/private/etc/sudoers", "/private/etc/sudoers.d"];

/** Links that paths begin with, and what /usr/bin/git and its like look up. */
const LINKS = ["/etc", "/tmp", "/var", "/private", "/private/tmp", "/private/var", "/private/var/db/xcode_select_link"];

const DEVICES = ["/dev", "/dev/fd", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

const WRITABLE_DEVICES = ["/dev/null", "/dev/zero"];

const SYSCTLS = [
  "kern.argmax",
  "kern.hostname",
  "kern.iossupportversion",
  "kern.maxfilesperproc",
  "kern.maxproc",
  "kern.ngroups",
  "kern.osproductversion",
  "kern.osrelease",
  "kern.ostype",
  "kern.osvariant_status",
  "kern.osversion",
  "kern.secure_kernel",
  "kern.usrstack64",
  "kern.version",
  "sysctl.proc_cputype",
  "sysctl.proc_native",
  "sysctl.proc_translated",
  "vm.loadavg",
];

const FOR_PROGRAMS: readonly string[] = [
  allow("process-exec"),
  allow("process-fork"),
  allow("signal", "(target same-sandbox)"),
  allow("process-info*", "(target same-sandbox)"),
  allow("file-read*", literal("/"), ...SYSTEM.map(subpath), ...DEVICES.map(literal)),
  allow("file-read-metadata", ...LINKS.map(literal)),
  allow("file-write*", ...WRITABLE_DEVICES.map(literal)),
  allow("file-ioctl", ...WRITABLE_DEVICES.map(literal)),
  allow("ipc-posix-sem"),
  allow("ipc-posix-shm-read-data", named("ipc-posix-name", "apple.shm.notification_center")),
  // Names of users and groups. Not the preferences, the keychain or the pasteboard: each is a way to secrets.
  allow("mach-lookup", named("global-name", "com.apple.system.opendirectoryd.libinfo")),
  // By name: all of them would include the arguments and the environment of other processes.
  allow(
    "sysctl-read",
    ...["hw.", "machdep.cpu."].map((prefix) => named("sysctl-name-prefix", prefix)),
    ...SYSCTLS.map((name) => named("sysctl-name", name)),
  ),
];

/** Always hidden. */
const ALWAYS_HIDDEN: readonly string[] = SECRETS;

/** Connections by IP, names and certificates. No local sockets but the resolver's: theirs would be a way to every other program. */
const FOR_NETWORK: readonly string[] = [
  allow("network-outbound", '(remote ip "*:*")', literal("/private/var/run/mDNSResponder")),
  allow("network-inbound", '(local ip "*:*")'),
  allow("network-bind", '(local ip "*:*")'),
  allow("system-socket"),
  allow(
    "mach-lookup",
    ...[
      "com.apple.SystemConfiguration.configd",
      "com.apple.SystemConfiguration.DNSConfiguration",
      "com.apple.trustd.agent",
    ].map((name) => named("global-name", name)),
  ),
];
