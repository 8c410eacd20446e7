/**
 * A filter of system calls for `bwrap --seccomp`, in classic BPF over `struct seccomp_data` (linux/seccomp.h, linux/filter.h): what
 * namespaces do not keep from a command, and parts of the kernel that attacks on it go through.
 */

/** An array of `struct sock_filter` for this machine. */
export function filterOf(arch: string = process.arch): Buffer {
  const column = arch === "arm64" ? 1 : 0;
  const numbers = (table: readonly (readonly [string, number, number])[]): number[] =>
    table.map((row) => row[column + 1] as number);
  const refused = numbers(REFUSED);
  const instructions = [
    load(ARCHITECTURE),
    ifEqual(AUDIT[column], 1, 0),
    verdict(KILL_PROCESS),
    load(NUMBER),
    // x86-64 alone has the same calls once more, with 32-bit pointers and other numbers
    ...(column === 0 ? [ifAtLeast(X32, 0, 1), verdict(refuse(EPERM))] : []),
    ...refused.flatMap((number) => [ifEqual(number, 0, 1), verdict(refuse(EPERM))]),
    // Its flags are in memory, where no filter reads them: libraries fall back to clone(2).
    ifEqual(CLONE3, 0, 1),
    verdict(refuse(ENOSYS)),
    ...checked(CLONE[column], [load(low(0)), ifAny(CLONE_NEW, 0, 1), verdict(refuse(EPERM)), verdict(ALLOW)]),
    ...checked(IOCTL[column], [
      load(low(1)),
      ifEqual(TIOCSTI, 1, 0),
      ifEqual(TIOCLINUX, 0, 1),
      verdict(refuse(EPERM)),
      verdict(ALLOW),
    ]),
    // Others have no namespaces: AF_VSOCK reaches the host of a virtual machine, AF_BLUETOOTH the radio.
    ...checked(SOCKET[column], [
      load(low(0)),
      ...FAMILIES.flatMap((family) => [ifEqual(family, 0, 1), verdict(ALLOW)]),
      verdict(refuse(EAFNOSUPPORT)),
    ]),
    verdict(ALLOW),
  ];
  return Buffer.concat(instructions);
}

/** Name, number on x86-64, number on arm64. */
const REFUSED = [
  ["ptrace", 101, 117],
  ["process_vm_readv", 310, 270],
  ["process_vm_writev", 311, 271],
  ["pidfd_getfd", 438, 438],
  ["kcmp", 312, 272],
  ["io_uring_setup", 425, 425],
  ["io_uring_enter", 426, 426],
  ["io_uring_register", 427, 427],
  ["unshare", 272, 97],
  ["setns", 308, 268],
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["pivot_root", 155, 41],
  ["chroot", 161, 51],
  ["open_tree", 428, 428],
  ["move_mount", 429, 429],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["mount_setattr", 442, 442],
  ["open_by_handle_at", 304, 265],
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["keyctl", 250, 219],
  ["bpf", 321, 280],
  ["perf_event_open", 298, 241],
  ["userfaultfd", 323, 282],
  ["kexec_load", 246, 104],
  ["kexec_file_load", 320, 294],
  ["init_module", 175, 105],
  ["finit_module", 313, 273],
  ["delete_module", 176, 106],
  ["syslog", 103, 116],
] as const;

const CLONE = [56, 220] as const;
const CLONE3 = 435;
const IOCTL = [16, 29] as const;
const SOCKET = [41, 198] as const;

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NEW = 0x7e02_0000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64: calls of another architecture have other numbers. */
const AUDIT = [0xc000_003e, 0xc000_00b7] as const;
const X32 = 0x4000_0000;
const NUMBER = 0;
const ARCHITECTURE = 4;
/** The low half of an argument: the kernel looks at no more of an int. */
const low = (argument: number): number => 16 + 8 * argument;

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const refuse = (errno: number): number => 0x0005_0000 | errno;

const instruction = (code: number, jt: number, jf: number, k: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jt, 2);
  bytes.writeUInt8(jf, 3);
  bytes.writeUInt32LE(k, 4);
  return bytes;
};
const load = (offset: number): Buffer => instruction(0x20, 0, 0, offset);
const ifEqual = (k: number, jt: number, jf: number): Buffer => instruction(0x15, jt, jf, k);
const ifAtLeast = (k: number, jt: number, jf: number): Buffer => instruction(0x35, jt, jf, k);
const ifAny = (k: number, jt: number, jf: number): Buffer => instruction(0x45, jt, jf, k);
const verdict = (k: number): Buffer => instruction(0x06, 0, 0, k);

/** A check ends with a verdict in every case, so that nothing behind it sees anything else than a number. */
const checked = (number: number, check: readonly Buffer[]): Buffer[] => [ifEqual(number, 0, check.length), ...check];
