/** The filter of a command: what Landlock does not see. Built here, for the machine it runs on. */
import {
  ALLOW,
  and,
  ARCHITECTURE,
  assemble,
  high,
  ifAny,
  ifAtLeast,
  ifEqual,
  type Instruction,
  KILL_PROCESS,
  load,
  low,
  NUMBER,
  refuse,
  verdict,
} from "./assembler.ts";
import { REFUSED, UNKNOWN } from "./refused.ts";
import { type Architecture, NEWEST_SYSCALL, type Syscall, syscallsOf } from "./syscalls.ts";

export interface FilterOptions {
  readonly arch: Architecture;
  /** Internet sockets may be made. */
  readonly network: boolean;
}

/** An array of `struct sock_filter`. */
export function filterOf(options: FilterOptions): Buffer {
  return assemble(instructionsOf(options));
}

const EPERM = 1;
const ENOSYS = 38;

/** `AUDIT_ARCH_*` of `linux/audit.h`. A call of another one (`int 0x80`) has other numbers: its process ends. */
const AUDIT = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
/** `__X32_SYSCALL_BIT`: the same calls once more, with 32-bit pointers and other numbers. */
const X32 = 0x4000_0000;

export function instructionsOf({ arch, network }: FilterOptions): Instruction[] {
  const numbers = syscallsOf(arch);
  const present = (names: readonly Syscall[]): number[] =>
    names.map((name) => numbers[name]).filter((number) => number !== undefined);
  const checks = Object.entries({ ...CHECKS, ...(network ? INTERNET_ONLY : {}) }) as [Syscall, Instruction[]][];
  return [
    load(ARCHITECTURE),
    ifEqual(AUDIT[arch], 1, 0),
    verdict(KILL_PROCESS),
    load(NUMBER),
    ...(arch === "x64" ? [ifAtLeast(X32, 0, 1), verdict(refuse(EPERM))] : []),
    ifAtLeast(NEWEST_SYSCALL + 1, 0, 1),
    verdict(refuse(ENOSYS)),
    ...refused(present(network ? REFUSED : [...REFUSED, "socket"]), EPERM),
    ...refused(present(UNKNOWN), ENOSYS),
    ...checks.flatMap(([name, check]) => (numbers[name] === undefined ? [] : checked(numbers[name], check))),
    verdict(ALLOW),
  ];
}

function refused(numbers: readonly number[], errno: number): Instruction[] {
  const last = numbers.length - 1;
  // Each jumps to the verdict behind them all, and the last one over it when it is not the number either.
  return [
    ...numbers.map((number, index) => ifEqual(number, last - index, index === last ? 1 : 0)),
    verdict(refuse(errno)),
  ];
}

/** A check ends with its verdict in every case, so that nothing behind it sees anything else than a number. */
const checked = (number: number, check: readonly Instruction[]): Instruction[] => [
  ifEqual(number, 0, check.length),
  ...check,
];

const NO = verdict(refuse(EPERM));
const YES = verdict(ALLOW);

/** `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`. The lowest byte is a signal. */
const CLONE_NEW = 0x7e02_0000;
/** Set-user-ID and set-group-ID: a program left in the workspace would act for this user when another one runs it. */
const SET_ID = 0o6000;
/** `O_CREAT`, and the bit of `O_TMPFILE` that `O_DIRECTORY` has not: only then there is a mode. */
const MAKES_A_FILE = 0o100 | 0o20000000;

const zero = (argument: number): Instruction[] => [load(low(argument)), ifEqual(0, 1, 0), NO];
const noneOf = (bits: number, argument: number): Instruction[] => [load(low(argument)), ifAny(bits, 0, 1), NO, YES];
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

const CHECKS: Partial<Record<Syscall, Instruction[]>> = {
  clone: noneOf(CLONE_NEW, 0),
  // TIOCSTI types into a terminal, TIOCLINUX pastes into one
  ioctl: [load(low(1)), ifEqual(0x5412, 1, 0), ifEqual(0x541c, 0, 1), NO, YES],
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
const INTERNET_ONLY: Partial<Record<Syscall, Instruction[]>> = {
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
