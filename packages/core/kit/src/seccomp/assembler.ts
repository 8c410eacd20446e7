/** Classic BPF as seccomp(2) runs it: a list of instructions over `struct seccomp_data`, in the kernel's `linux/filter.h`. */

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
