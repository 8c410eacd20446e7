import { ARCHITECTURES, filterOf } from "@svc/kit/seccomp";
import koffi from "koffi";
import { call, SystemError } from "../libc.ts";
import { policyOf } from "./filter.ts";

const HERE = ARCHITECTURES.find((each) => each === process.arch);

/** Whether the numbers of this machine's system calls are known. */
export const canFilter = (): boolean => HERE !== undefined;

/** Throws SystemError `architecture` where they are not. */
export function filterHere(network: boolean): Buffer {
  if (HERE === undefined) throw new SystemError("architecture", process.arch);
  return filterOf(policyOf(network), HERE);
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
