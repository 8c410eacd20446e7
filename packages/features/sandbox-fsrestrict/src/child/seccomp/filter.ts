/** The filter of a command: what Landlock does not see. */
import {
  type FilterPolicy,
  type Instruction,
  MOUNTING,
  NO,
  NO_NAMESPACE,
  NO_TYPING,
  type Syscall,
  YES,
  and,
  high,
  ifAny,
  ifEqual,
  load,
  low,
  noneOf,
} from "@svc/kit/seccomp";

/** `network`: internet sockets may be made. */
export const policyOf = (network: boolean): FilterPolicy => ({
  refused: network ? REFUSED : [...REFUSED, "socket"],
  unknown: UNKNOWN,
  checks: network ? { ...CHECKS, ...INTERNET_ONLY } : CHECKS,
});

/** Set-user-ID and set-group-ID: a program left in the workspace would act for this user when another one runs it. */
const SET_ID = 0o6000;
/** `O_CREAT`, and the bit of `O_TMPFILE` that `O_DIRECTORY` has not: only then there is a mode. */
const MAKES_A_FILE = 0o100 | 0o20000000;

const zero = (argument: number): Instruction[] => [load(low(argument)), ifEqual(0, 1, 0), NO];
const fileMode = (flags: number, mode: number): Instruction[] => [
  load(low(flags)),
  ifAny(MAKES_A_FILE, 1, 0),
  YES,
  ...noneOf(SET_ID, mode),
];
/** 0 is the process itself; Landlock does not keep it from the daemon's user's other ones. */
const onlySelf = [...zero(0), YES];

/** `RLIMIT_LOCKS`, which no kernel since 2.4.25 looks at, is what a command's processes are known by (see marks.ts). */
const RLIMIT_LOCKS = 10;

const CHECKS: FilterPolicy["checks"] = {
  clone: NO_NAMESPACE,
  ioctl: NO_TYPING,
  // AF_UNIX, SOCK_STREAM or SOCK_SEQPACKET: one of datagrams could still be connected to anybody's
  socketpair: [load(low(0)), ifEqual(1, 1, 0), NO, load(low(1)), and(0xf), ifEqual(1, 1, 0), ifEqual(5, 0, 1), YES, NO],
  prlimit64: [
    ...zero(0),
    load(low(1)),
    ifEqual(RLIMIT_LOCKS, 1, 0),
    YES,
    load(low(2)),
    ifEqual(0, 0, 2),
    load(high(2)),
    ifEqual(0, 1, 0),
    NO,
    YES,
  ],
  setrlimit: [load(low(0)), ifEqual(RLIMIT_LOCKS, 0, 1), NO, YES],
  // PRIO_PROCESS is 0 here and IOPRIO_WHO_PROCESS is 1; by group and by user they reach others
  setpriority: [...zero(0), ...zero(1), YES],
  ioprio_set: [load(low(0)), ifEqual(1, 1, 0), NO, ...zero(1), YES],
  sched_setaffinity: onlySelf,
  sched_setscheduler: onlySelf,
  sched_setparam: onlySelf,
  sched_setattr: onlySelf,
  migrate_pages: onlySelf,
  move_pages: onlySelf,
  chmod: noneOf(SET_ID, 1),
  fchmod: noneOf(SET_ID, 1),
  fchmodat: noneOf(SET_ID, 2),
  fchmodat2: noneOf(SET_ID, 2),
  mknod: noneOf(SET_ID, 1),
  mknodat: noneOf(SET_ID, 2),
  creat: noneOf(SET_ID, 1),
  open: fileMode(1, 2),
  openat: fileMode(2, 3),
};

/**
 * With the network on: AF_INET, AF_INET6, and of AF_NETLINK the routes, which resolvers ask for. Local sockets stay closed: by
 * path they lead to daemons that do as they are told (a container engine, a session bus), and Landlock does not see to that.
 */
const INTERNET_ONLY: FilterPolicy["checks"] = {
  socket: [
    load(low(0)),
    ifEqual(2, 5, 0),
    ifEqual(10, 4, 0),
    ifEqual(16, 0, 2),
    load(low(2)),
    ifEqual(0, 1, 0),
    NO,
    YES,
  ],
};

// System calls that no command may make, whatever their arguments.

/** Refused with EPERM. */
export const REFUSED: readonly Syscall[] = [
  // other processes: their memory, their files
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "process_madvise",
  "kcmp",
  "pidfd_getfd",
  // does the work of other calls, past every filter of them
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  ...MOUNTING,
  // files by another way than their path
  "name_to_handle_at",
  "open_by_handle_at",
  "fanotify_init",
  // objects that have no path, live on after the command, and belong to every process of the user
  "shmget",
  "shmat",
  "shmctl",
  "shmdt",
  "semget",
  "semop",
  "semtimedop",
  "semctl",
  "msgget",
  "msgsnd",
  "msgrcv",
  "msgctl",
  "mq_open",
  "mq_unlink",
  "add_key",
  "request_key",
  "keyctl",
  // parts of the kernel that attacks on it go through
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "modify_ldt",
  "lookup_dcookie",
  "nfsservctl",
  "vhangup",
  // the machine
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "reboot",
  "swapon",
  "swapoff",
  "acct",
  "quotactl",
  "quotactl_fd",
  "settimeofday",
  "clock_settime",
  "clock_adjtime",
  "adjtimex",
  "sethostname",
  "setdomainname",
  "iopl",
  "ioperm",
  "syslog",
];

/** Refused as if the kernel had none: programs then use older calls, whose arguments a filter can read. */
export const UNKNOWN: readonly Syscall[] = ["clone3", "openat2"];
