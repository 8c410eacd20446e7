/**
 * `@svc/kit/seccomp`: compiles a sandbox's refusals into a seccomp program for the machine it runs on, with the parts common to every
 * filter.
 */

// Classic BPF as seccomp(2) runs it: a list of instructions over `struct seccomp_data`, in the kernel's `linux/filter.h`.

/** `jt`, `jf`: how many instructions to skip when the comparison holds, and when it does not. */
export interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

/** `BPF_LD | BPF_W | BPF_ABS`: loads 32 bits of the data at an offset. */
export const load = (offset: number): Instruction => ({ code: 0x20, jt: 0, jf: 0, k: offset });
/** `BPF_ALU | BPF_AND | BPF_K` */
export const and = (mask: number): Instruction => ({ code: 0x54, jt: 0, jf: 0, k: mask });
/** `BPF_JMP | BPF_JEQ | BPF_K` */
export const ifEqual = (k: number, jt: number, jf: number): Instruction => ({ code: 0x15, jt, jf, k });
/** `BPF_JMP | BPF_JGE | BPF_K`, unsigned */
export const ifAtLeast = (k: number, jt: number, jf: number): Instruction => ({ code: 0x35, jt, jf, k });
/** `BPF_JMP | BPF_JSET | BPF_K`: any of these bits. */
export const ifAny = (k: number, jt: number, jf: number): Instruction => ({ code: 0x45, jt, jf, k });
/** `BPF_RET | BPF_K` */
export const verdict = (k: number): Instruction => ({ code: 0x06, jt: 0, jf: 0, k });

/** Of `struct seccomp_data`. */
export const NUMBER = 0;
export const ARCHITECTURE = 4;
/**
 * The low half of an argument, of six. The kernel looks at no more of an int, so a check of all 64 bits is passed by setting a
 * high one (CVE-2019-10063).
 */
export const low = (argument: number): number => 16 + 8 * argument;
export const high = (argument: number): number => low(argument) + 4;

export const ALLOW = 0x7fff_0000;
export const KILL_PROCESS = 0x8000_0000;
export const refuse = (errno: number): number => 0x0005_0000 | errno;

/** An array of `struct sock_filter`. Both architectures are little-endian. */
export function assemble(instructions: readonly Instruction[]): Buffer {
  if (instructions.length > MAX_INSTRUCTIONS) throw new RangeError("the filter is too long");
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, { code, jt, jf, k }] of instructions.entries()) {
    if (index + 1 + Math.max(jt, jf) > instructions.length) throw new RangeError("a jump leaves the filter");
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  }
  return bytes;
}

/** `BPF_MAXINSNS` */
const MAX_INSTRUCTIONS = 4096;

/** Known system calls that no list names are allowed. */
export interface FilterPolicy {
  /** Refused with EPERM. */
  readonly refused: readonly Syscall[];
  /** Refused as if the kernel had none: programs then use older calls, whose arguments a filter can read. */
  readonly unknown: readonly Syscall[];
  /** Judged by their arguments. Each ends with a verdict in every case, so that nothing behind it sees anything else than a number. */
  readonly checks: Partial<Record<Syscall, readonly Instruction[]>>;
}

export const NO: Instruction = verdict(refuse(1)); // EPERM
export const YES: Instruction = verdict(ALLOW);
const ENOSYS = 38;

/** A whole check: none of these bits in an argument. */
export const noneOf = (bits: number, argument: number): Instruction[] => [
  load(low(argument)),
  ifAny(bits, 0, 1),
  NO,
  YES,
];

/** Calls that change mounts: they could uncover hidden files or bring files in. New namespaces would permit them. */
export const MOUNTING: readonly Syscall[] = [
  "unshare",
  "setns",
  "mount",
  "umount2",
  "pivot_root",
  "chroot",
  "open_tree",
  "open_tree_attr",
  "move_mount",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "mount_setattr",
];

/** clone(2) makes processes and threads, and no namespace: `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`. */
export const NO_NAMESPACE: readonly Instruction[] = noneOf(0x7e02_0000, 0);
/** ioctl(2): `TIOCSTI` types into a terminal, `TIOCLINUX` pastes into one. */
export const NO_TYPING: readonly Instruction[] = [load(low(1)), ifEqual(0x5412, 1, 0), ifEqual(0x541c, 0, 1), NO, YES];

/** `AUDIT_ARCH_*` of `linux/audit.h`. A call of another one (`int 0x80`) has other numbers: its process ends. */
const AUDIT = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
/** `__X32_SYSCALL_BIT`: the same calls once more, with 32-bit pointers and other numbers. */
const X32 = 0x4000_0000;

/** An array of `struct sock_filter`. */
export const filterOf = (policy: FilterPolicy, arch: Architecture): Buffer => assemble(instructionsOf(policy, arch));

export function instructionsOf({ refused, unknown, checks }: FilterPolicy, arch: Architecture): Instruction[] {
  const numbers = syscallsOf(arch);
  const present = (names: readonly Syscall[]): number[] =>
    names.map((name) => numbers[name]).filter((number) => number !== undefined);
  const checked = Object.entries(checks) as [Syscall, readonly Instruction[]][];
  return [
    load(ARCHITECTURE),
    ifEqual(AUDIT[arch], 1, 0),
    verdict(KILL_PROCESS),
    load(NUMBER),
    ...(arch === "x64" ? [ifAtLeast(X32, 0, 1), NO] : []),
    ifAtLeast(NEWEST_SYSCALL + 1, 0, 1),
    verdict(refuse(ENOSYS)),
    ...anyOf(present(refused), NO),
    ...anyOf(present(unknown), verdict(refuse(ENOSYS))),
    ...checked.flatMap(([name, check]) =>
      numbers[name] === undefined ? [] : [ifEqual(numbers[name], 0, check.length), ...check],
    ),
    YES,
  ];
}

/** Each jumps to the verdict behind them all, and the last one over it when it is not the number either. */
function anyOf(numbers: readonly number[], verdictOnThem: Instruction): Instruction[] {
  const last = numbers.length - 1;
  return [...numbers.map((number, index) => ifEqual(number, last - index, index === last ? 1 : 0)), verdictOnThem];
}

/**
 * Numbers of system calls: of x86-64 in `arch/x86/entry/syscalls/syscall_64.tbl` of the kernel, of arm64 in
 * `include/uapi/asm-generic/unistd.h`. `undefined` where an architecture has none.
 */
const TABLE = {
  add_key: [248, 217],
  acct: [163, 89],
  adjtimex: [159, 171],
  bpf: [321, 280],
  capset: [126, 91],
  chmod: [90, undefined],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  close_range: [436, 436],
  creat: [85, undefined],
  delete_module: [176, 106],
  dup3: [292, 24],
  exit_group: [231, 94],
  fanotify_init: [300, 262],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  fcntl: [72, 25],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  ioprio_set: [251, 30],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  landlock_add_rule: [445, 445],
  landlock_create_ruleset: [444, 444],
  landlock_restrict_self: [446, 446],
  lookup_dcookie: [212, 18],
  migrate_pages: [256, 238],
  mknod: [133, undefined],
  mknodat: [259, 33],
  modify_ldt: [154, undefined],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  mprotect: [10, 226],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  msgctl: [71, 187],
  msgget: [68, 186],
  msgrcv: [70, 188],
  msgsnd: [69, 189],
  name_to_handle_at: [303, 264],
  nanosleep: [35, 101],
  nfsservctl: [180, 42],
  open: [2, undefined],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  openat: [257, 56],
  openat2: [437, 437],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  prctl: [157, 167],
  prlimit64: [302, 261],
  process_madvise: [440, 440],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  rt_sigaction: [13, 134],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  seccomp: [317, 277],
  semctl: [66, 191],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  setdomainname: [171, 162],
  setgroups: [116, 159],
  sethostname: [170, 161],
  setitimer: [38, 103],
  setns: [308, 268],
  setpriority: [141, 140],
  setresgid: [119, 149],
  setresuid: [117, 147],
  setrlimit: [160, 164],
  settimeofday: [164, 170],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmdt: [67, 197],
  shmget: [29, 194],
  socket: [41, 198],
  socketpair: [53, 199],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  tgkill: [234, 131],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
} as const;

export type Syscall = keyof typeof TABLE;

export const ARCHITECTURES = ["x64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** The newest that this table was looked through for. What comes after it is unknown, and refused. */
export const NEWEST_SYSCALL = 470;

export const syscallsOf = (arch: Architecture): Readonly<Record<Syscall, number | undefined>> => {
  const column = ARCHITECTURES.indexOf(arch) as 0 | 1;
  return Object.fromEntries(Object.entries(TABLE).map(([name, numbers]) => [name, numbers[column]])) as Record<
    Syscall,
    number | undefined
  >;
};

/** Those of this machine. Elsewhere the numbers mean nothing, and nothing runs: see `architecture`. */
export const SYSCALLS = syscallsOf(process.arch === "arm64" ? "arm64" : "x64");
