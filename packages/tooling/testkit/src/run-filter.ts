import type { Instruction } from "@svc/kit/seccomp";

/** A system call as a filter sees it: `struct seccomp_data` of linux/seccomp.h. */
export interface FilteredCall {
  /** `AUDIT_ARCH_*` */
  readonly arch: number;
  readonly number: number;
  readonly args?: readonly (number | bigint)[];
}

/** The verdict of a filter, as the kernel would come to it: classic BPF of Documentation/networking/filter.rst. */
export function runFilter(program: readonly Instruction[], { arch, number, args = [] }: FilteredCall): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 1) {
    const { code, jt, jf, k } = program[at]!;
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x15) at += accumulator === k ? jt : jf;
    else if (code === 0x35) at += accumulator >= k ? jt : jf;
    else if (code === 0x45) at += (accumulator & k) !== 0 ? jt : jf;
    else if (code === 0x06) return k;
    else throw new Error(`instruction ${code}`);
  }
  throw new Error("it came to no verdict");
}
