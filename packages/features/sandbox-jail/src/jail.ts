import type {
  Clock,
  Confinement,
  Contributions,
  FeatureContext,
  SandboxBackend,
  SandboxLimit,
  SandboxSession,
} from "@svc/contract";
import { readlink } from "node:fs/promises";
import { userInfo } from "node:os";
import { type GroupMaker, findGroupMaker, findProgram, proveConfinement, reasonOf } from "@svc/kit/process";
import { jailSession } from "./session.ts";
import { type View, isBelow, unavailable, viewOf } from "./view.ts";

export const create = ({ clock }: FeatureContext<unknown>): Contributions => ({ sandbox: createJail({ clock }) });

interface JailOptions {
  readonly clock: Pick<Clock, "after">;
  /** Where programs are looked for. Default: the daemon's PATH. */
  readonly path?: string;
}

/** firejail around commands. Throws SANDBOX_UNAVAILABLE where it can't do what a confinement asks for. */
export function createJail({ clock, path }: JailOptions): SandboxBackend {
  let groups: Promise<GroupMaker | undefined> | undefined;
  const open = async (confinement: Confinement): Promise<SandboxSession> => {
    const firejail = await firejailFor(confinement, path);
    const view = await viewOf(confinement);
    const maker = await (groups ??= findGroupMaker());
    return jailSession({ confinement, firejail, options: optionsOf(confinement, view, maker?.limits), maker, clock });
  };
  return {
    id: "jail",
    open,
    async probe(confinement, signal) {
      try {
        const unenforced = await notHeld(open, confinement, await (groups ??= findGroupMaker()), signal);
        const enforced = { ...confinement, limits: withoutLimits(confinement.limits, unenforced) };
        const objection = await proveConfinement({ open, confinement: enforced, signal, offline: await offline() });
        return objection === undefined ? { available: true, unenforced } : { available: false, reason: objection };
      } catch (error) {
        signal.throwIfAborted();
        return { available: false, reason: reasonOf(error) };
      }
    },
  };
}

async function firejailFor({ user }: Confinement, path: string | undefined): Promise<string> {
  if (process.platform !== "linux") throw unavailable("firejail is not for this system.");
  const uid = process.getuid?.();
  if (user && uid !== 0 && user.uid !== uid) throw unavailable("Only root can run commands as another user.");
  if (!hasAccount()) throw unavailable("firejail needs an account: the daemon's user has no line in /etc/passwd.");
  const firejail = await findProgram("firejail", path);
  if (firejail === undefined) throw unavailable("firejail is not installed: install the package firejail.");
  if (user && uid === 0 && (await findProgram("setpriv", path)) === undefined) {
    throw unavailable("setpriv is not installed, which makes root's commands another user's: install util-linux.");
  }
  return firejail;
}

function hasAccount(): boolean {
  try {
    return userInfo().homedir !== "";
  } catch {
    return false;
  }
}

/**
 * Processes are counted by user: root's are not at all, and another's all together, unless the jail has a user namespace of its
 * own. The rest is held by control groups, or for each process by the kernel.
 */
async function notHeld(
  open: SandboxBackend["open"],
  { limits: { pids, ...limits }, ...confinement }: Confinement,
  groups: GroupMaker | undefined,
  signal: AbortSignal,
): Promise<SandboxLimit[]> {
  if (pids === undefined || groups?.limits.includes("pids")) return [];
  if (process.getuid?.() === 0) return confinement.user ? [] : ["pids"];
  const session = await open({ ...confinement, limits });
  try {
    const { stdout } = await session.exec({
      command: "read -r inside outside count </proc/self/uid_map; echo $count",
      signal,
    });
    return Number(stdout) === EVERYBODY ? ["pids"] : [];
  } finally {
    await session.close();
  }
}

/** In uid_map of a machine's own namespace: user_namespaces(7). */
const EVERYBODY = 4_294_967_295;

const withoutLimits = (limits: Confinement["limits"], left: readonly SandboxLimit[]): Confinement["limits"] =>
  Object.fromEntries(Object.entries(limits).filter(([name]) => !left.includes(name as SandboxLimit)));

/** It is in another network namespace than the daemon. */
async function offline(): Promise<string> {
  const own = await readlink("/proc/self/ns/net");
  return `[ "$(readlink /proc/self/ns/net)" != '${own}' ] && [ -n "$(readlink /proc/self/ns/net)" ] && echo offline`;
}

// firejail's options for a confinement. What they mean: firejail(1), https://firejail.wordpress.com/documentation-2/ and
// https://github.com/netblue30/firejail; what is said here about them was tried with 0.9.72.

/** `held`: limits that something else holds. */
function optionsOf(confinement: Confinement, view: View, held: readonly SandboxLimit[] = []): string[] {
  const isRoot = process.getuid?.() === 0;
  return [
    "--quiet",
    "--noprofile", // neither the distribution's profiles nor those in ~/.config/firejail
    "--keep-fd=3",
    "--deterministic-exit-code",
    "--deterministic-shutdown", // background processes end with the command
    ...privileges(confinement, isRoot),
    ...network(confinement.network),
    "--nodbus",
    "--nosound",
    "--private-dev",
    ...files(view, isRoot),
    ...limits(confinement.limits, held),
  ];
}

/** As root a jail has no user namespace; setpriv(1) starts the command as another user. */
const privileges = ({ user }: Confinement, isRoot: boolean): string[] => [
  isRoot && user ? "--caps.keep=setuid,setgid,setpcap" : "--caps.drop=all",
  "--nonewprivs",
  // With a user namespace of its own, --rlimit-nproc counts this jail's processes and not all of the user's (Linux 5.14).
  ...(isRoot ? [] : ["--noroot"]),
  `--seccomp=${BEYOND_DEFAULT.join(",")}`,
  "--seccomp.block-secondary", // system calls of 32-bit programs would pass the other filters by
  "--restrict-namespaces",
];

/** System calls to refuse, beside firejail's default list. An `io_uring` makes sockets that no filter of system calls sees. */
const BEYOND_DEFAULT = [
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
];

/**
 * The list of protocols can't be empty. Packet sockets need a capability that no process in a jail has, so off means no sockets
 * except socketpair(2). On means no local sockets: abstract ones would reach D-Bus and the display.
 */
const network = (on: boolean): string[] =>
  on ? ["--protocol=inet,inet6,netlink"] : ["--net=none", "--x11=none", "--protocol=packet"];

/** firejail first empties the folders of its whitelist, then takes the others in the order they are in. */
const files = (view: View, isRoot: boolean): string[] => [
  "--private-tmp",
  "--keep-var-tmp", // else it is emptied before what lies in it is found
  "--writable-var", // else no program in a workspace below it can run; whatever else is there, is not shown
  ...emptied(view, isRoot).map((folder) => `--whitelist=${folder}/${NOTHING}`),
  ...view.visible
    .filter((path) => view.emptied.concat("/tmp").some((top) => isBelow(path, top)))
    .map((path) => `--whitelist=${path}`),
  ...SECRETS.map((path) => `--blacklist=${path}`),
  ...COPIED.map((name) => `--blacklist=${userInfo().homedir}/${name}`),
  // Root's jail is root without capabilities: it owns what root owns.
  ...(isRoot ? ["--read-only=/", "--read-write=/tmp"] : view.shown.filter(isSystem).map((top) => `--read-only=${top}`)),
  ...view.readable.map((path) => `--read-only=${path}`),
  ...view.writable.map((path) => `--read-write=${path}`),
  ...view.covered.map((path) => `--blacklist=${path}`),
];

/** A name that is nowhere: whitelisting it empties the folder. */
const NOTHING = ".svc-nothing";

/** Firejail mounts another user's home as a separate folder, and empties the folders around it by itself. */
function emptied({ emptied: tops }: View, isRoot: boolean): string[] {
  if (isRoot) return [...tops];
  const { homedir } = userInfo();
  return [...tops.filter((top) => !isBelow(homedir, top)), homedir];
}

const isSystem = (top: string): boolean => !["/dev", "/proc", "/sys", "/tmp"].includes(top);

/** Root can read these without any capability. */
const SECRETS = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/security/opasswd",
  "/etc/ssh",
  "/etc/ssl/private",
  "/etc/krb5.keytab",
  "/etc/NetworkManager/system-connections",
  "/etc/wpa_supplicant",
];

/** firejail copies these into a home that it has emptied: the way to the display among them. */
const COPIED = [".Xauthority", ".asoundrc", ".bashrc", ".cshrc", ".zshrc"];

/** Limits of each single process, except for the number of processes. */
const limits = ({ memoryMb, cpuSecs, pids }: Confinement["limits"], held: readonly SandboxLimit[]): string[] => [
  ...(memoryMb === undefined || held.includes("memoryMb") ? [] : [`--rlimit-as=${memoryMb}m`]),
  ...(cpuSecs === undefined ? [] : [`--rlimit-cpu=${cpuSecs + 1}`]),
  ...(pids === undefined || held.includes("pids") ? [] : [`--rlimit-nproc=${pids}`]),
];
