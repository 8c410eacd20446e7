/** A bubblewrap with a shell in it that waits for its command, and becomes it. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Confinement } from "@svc/contract";
import {
  type ConfinedCommand,
  type GroupMaker,
  type SessionGroup,
  shellWord,
  withoutDescriptors,
} from "@svc/kit/process";
import { type Bubblewrap, unavailable } from "./bubblewrap.ts";
import {
  ARCHITECTURES,
  type FilterPolicy,
  MOUNTING,
  NO_NAMESPACE,
  NO_TYPING,
  YES,
  filterOf,
  ifEqual,
  load,
  low,
  refuse,
  verdict,
} from "@svc/kit/seccomp";

/** What is here to confine with. */
export interface Machine extends Bubblewrap {
  readonly groups: GroupMaker | undefined;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

export interface LaunchDeps {
  readonly confinement: Confinement;
  readonly machine: Machine;
  /** As `viewOf` has it. */
  readonly view: readonly string[];
  readonly group: SessionGroup | undefined;
}

export interface Launched {
  readonly child: ChildProcess;
  /** Tells the shell what to become. Once. */
  begin(command: ConfinedCommand): void;
  /** Whether the shell, or the command, came to its end inside: else bubblewrap did not get there. */
  gotInside(): boolean;
}

export function launch({ confinement, machine, view, group }: LaunchDeps): Launched {
  const options = [...namespaces(confinement, machine), ...view, ...INPUTS, "--chdir", "/"];
  const inside = [...asUser(confinement, machine), "/bin/sh", "-c", ENTRY];
  const [file, args] = joining(group, [machine.bwrap, ...options, "--", ...inside]);
  const child = spawn(file, args, {
    cwd: "/",
    env: {},
    stdio: Array.from({ length: DESCRIPTORS }, () => "pipe"),
    detached: true,
  });
  // Whoever runs the command sees its end; what never started, and what a killed one leaves unread, is no news.
  for (const each of [child, ...child.stdio]) each?.on("error", () => undefined);
  for (const [index, data] of [filterHere(), ...accounts(confinement)].entries())
    feed(child, FIRST_INPUT + index, data);
  const status = statusOf(child);
  return {
    child,
    begin: (command) => feed(child, LINE, `${lineOf(command, confinement, group)}\n`),
    gotInside: () => status().includes('"exit-code"'),
  };
}

/**
 * Root makes them without a user namespace, reaches the workspace wherever it is, and setpriv(1) drops the last two capabilities;
 * anybody else is nobody in a user namespace.
 */
const namespaces = ({ network, user }: Confinement, { disableUserns }: Machine): string[] => [
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-uts",
  "--unshare-cgroup-try",
  ...(network ? [] : ["--unshare-net"]),
  ...(isRoot() ? [] : ["--unshare-user", ...(disableUserns ? ["--disable-userns"] : [])]),
  "--hostname",
  "sandbox",
  "--die-with-parent",
  "--new-session",
  "--cap-drop",
  "ALL",
  ...(isRoot() && user ? ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] : []),
];

/**
 * Descriptors beside the usual three. bwrap reads a filter and two files of /etc, tells on another one how it went, and closes these
 * before the shell begins; the shell reads from the last one, and closes it before it becomes the command.
 */
const FIRST_INPUT = 3;
const STATUS = 6;
const LINE = 7;
const DESCRIPTORS = 8;
const INPUTS = ["--seccomp", "3", "--perms", "0444", "--ro-bind-data", "4", "/etc/passwd"].concat([
  "--perms",
  "0444",
  "--ro-bind-data",
  "5",
  "/etc/group",
  "--json-status-fd",
  String(STATUS),
]);

/** bwrap hands down whatever the daemon has open: the shell closes it before it hears of its command. */
const ENTRY = withoutDescriptors(`eval "$(cat <&${LINE})"`, [LINE]);

const asUser = ({ user }: Confinement, { setpriv }: Machine): string[] =>
  isRoot() && user
    ? [
        setpriv!,
        `--reuid=${user.uid}`,
        `--regid=${user.gid}`,
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--",
      ]
    : [];

/**
 * rlimits, set by the shell inside: there RLIMIT_NPROC counts the processes of the user namespace alone (Linux 5.14). Soft for
 * processor time, so that the kernel says what it was: SIGXCPU. RLIMIT_DATA and not RLIMIT_AS: Node, Go and Java reserve far more
 * addresses than they ever use. The shell also says of a program that is not there that it is not: 127.
 */
function lineOf(
  { words, folder, env, hasInput }: ConfinedCommand,
  { limits: { memoryMb, cpuSecs, pids } }: Confinement,
  group: SessionGroup | undefined,
): string {
  return [
    "ulimit -c 0",
    ...(cpuSecs === undefined ? [] : [`ulimit -S -t ${cpuSecs}; ulimit -H -t ${cpuSecs + 1}`]),
    ...(memoryMb === undefined || group ? [] : [`ulimit -d ${memoryMb * 1024}`]),
    // dash has -p where bash has -u
    ...(pids === undefined || group
      ? []
      : [`if [ -n "$BASH_VERSION" ]; then ulimit -u ${pids}; else ulimit -p ${pids}; fi`]),
    // Only now: root without capabilities can't enter a folder of whom commands run as.
    `cd -- ${shellWord(folder)}`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    `exec ${LINE}<&-${hasInput ? "" : " </dev/null"}`,
    `exec ${words.map(shellWord).join(" ")}`,
  ].join(" && ");
}

/** Joins the group before bwrap makes its first process: the shell is that process then. */
function joining(group: SessionGroup | undefined, words: readonly string[]): [string, string[]] {
  if (!group) return [words[0]!, words.slice(1)];
  const line = [...group.joins.map((_file, index) => `echo 0 >"$${index + 1}"`), `shift ${group.joins.length}`];
  return ["/bin/sh", ["-c", [...line, 'exec "$@"'].join(" && "), "sh", ...group.joins, ...words]];
}

/** What has ended already reads nothing: that is seen by its end. */
function feed(child: ChildProcess, descriptor: number, data: string | Buffer): void {
  (child.stdio[descriptor] as Writable).on("error", () => undefined).end(data);
}

/** bwrap says `"child-pid"` when it made its first process, and `"exit-code"` only when that one got to its end. */
function statusOf(child: ChildProcess): () => string {
  let words = "";
  const status = child.stdio[STATUS as 3] as Readable;
  status.on("error", () => undefined);
  status.on("data", (chunk: Buffer) => {
    if (words.length < 4096) words += chunk.toString("latin1");
  });
  return () => words;
}

/** /etc/passwd and /etc/group as they are inside: whom commands run as, root and nobody. passwd(5), group(5). */
function accounts({ user, workspace }: Confinement): [passwd: string, group: string] {
  const uid = user?.uid ?? process.getuid?.() ?? 0;
  const gid = user?.gid ?? process.getgid?.() ?? 0;
  // A colon or a line's end would begin another field or entry.
  const home = /[:\n]/.test(workspace) ? "/" : workspace;
  const own = uid === 0 ? [] : [`user:x:${uid}:${gid}::${home}:/bin/sh`];
  const ownGroup = gid === 0 ? [] : [`user:x:${gid}:`];
  const passwd = [
    "root:x:0:0::/:/bin/sh",
    ...own,
    ...(uid === NOBODY ? [] : [`nobody:x:${NOBODY}:${NOBODY}::/:/bin/false`]),
  ];
  const group = ["root:x:0:", ...ownGroup, ...(gid === NOBODY ? [] : [`nogroup:x:${NOBODY}:`])];
  return [`${passwd.join("\n")}\n`, `${group.join("\n")}\n`];
}

const NOBODY = 65_534;

// The filter for `bwrap --seccomp`: what namespaces do not keep from a command, and parts of the kernel that attacks on it go through.

/** An array of `struct sock_filter` for this machine. Throws SANDBOX_UNAVAILABLE where the numbers of its calls are not known. */
export function filterHere(arch: string = process.arch): Buffer {
  const known = ARCHITECTURES.find((each) => each === arch);
  if (known === undefined) throw unavailable("The system calls of this machine's architecture are not known.");
  return filterOf(POLICY, known);
}

const EAFNOSUPPORT = 97;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];

export const POLICY: FilterPolicy = {
  refused: [
    // other processes of the sandbox: a command has nothing to look for in them
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    // does the work of other calls, past every filter of them
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    ...MOUNTING,
    // files by another way than their path
    "open_by_handle_at",
    // keys have no namespace
    "add_key",
    "request_key",
    "keyctl",
    // parts of the kernel that attacks on it go through
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "syslog",
  ],
  // Its flags are in memory, where no filter reads them: libraries fall back to clone(2).
  unknown: ["clone3"],
  checks: {
    clone: NO_NAMESPACE,
    ioctl: NO_TYPING,
    // Others have no namespaces: AF_VSOCK reaches the host of a virtual machine, AF_BLUETOOTH the radio.
    socket: [
      load(low(0)),
      ...FAMILIES.flatMap((family) => [ifEqual(family, 0, 1), YES]),
      verdict(refuse(EAFNOSUPPORT)),
    ],
  },
};
