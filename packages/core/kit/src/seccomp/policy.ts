/** Compiles a sandbox's refusals into a seccomp program, with the parts common to every filter. */
import { type Architecture, NEWEST_SYSCALL, type Syscall, syscallsOf } from "./syscalls.ts";

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
