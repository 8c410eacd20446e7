/** Compiles a sandbox's refusals into a seccomp program, with the parts common to every filter. */
import {
  ALLOW,
  ARCHITECTURE,
  assemble,
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
import { type Architecture, NEWEST_SYSCALL, type Syscall, syscallsOf } from "./syscalls.ts";

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
