/**
 * firejail's options for a confinement. What they mean: firejail(1), https://firejail.wordpress.com/documentation-2/ and
 * https://github.com/netblue30/firejail; what is said here about them was tried with 0.9.72.
 */
import { userInfo } from "node:os";
import type { Confinement, SandboxLimit } from "@svc/contract";
import { isBelow, type View } from "./view.ts";

/** `held`: limits that something else holds. */
export function optionsOf(confinement: Confinement, view: View, held: readonly SandboxLimit[] = []): string[] {
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
