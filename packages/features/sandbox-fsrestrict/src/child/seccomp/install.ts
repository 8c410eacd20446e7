import koffi from "koffi";
import { call, SystemError } from "../libc.ts";
import { filterOf } from "./filter.ts";
import { type Architecture, ARCHITECTURES } from "./syscalls.ts";

/** Throws SystemError `architecture` where the numbers of the system calls are not known. */
export function filterHere(network: boolean): Buffer {
  const arch = ARCHITECTURES.find((each) => each === process.arch);
  if (arch === undefined) throw new SystemError("architecture", process.arch);
  return filterOf({ arch: arch satisfies Architecture, network });
}

/** For this thread, for good; `dropNewPrivileges` comes before it. Throws SystemError. */
export function installFilter(filter: Buffer): void {
  // struct sock_fprog: a count, and behind padding the address of the instructions
  const program = Buffer.alloc(16);
  program.writeUInt16LE(filter.byteLength / 8, 0);
  program.writeBigUInt64LE(BigInt(koffi.address(filter)), 8);
  call("seccomp", "seccomp", SECCOMP_SET_MODE_FILTER, 0, program);
}

const SECCOMP_SET_MODE_FILTER = 1;
