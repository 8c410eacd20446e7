/** Tries, from inside, what has to fail. Done by the child itself, so that it needs no program of the machine. */
import { openSync } from "node:fs";
import { attempt } from "./libc.ts";

/** Names of what got through. `network`: internet sockets may be made. */
export function gotThrough(network: boolean): string[] {
  return Object.entries({ ...SOCKETS, ...(network ? {} : INTERNET), ...CALLS, ...DAEMON })
    .filter(([, through]) => through())
    .map(([name]) => name);
}

/** Of https://man7.org/linux/man-pages/man2/socket.2.html; what the kernel was built without fails by itself. */
const SOCKETS = sockets({ AF_UNIX: 1, AF_PACKET: 17, AF_ALG: 38, AF_VSOCK: 40, AF_BLUETOOTH: 31, AF_XDP: 44 });
const INTERNET = sockets({ AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 });

function sockets(families: Readonly<Record<string, number>>): Record<string, () => boolean> {
  const kinds = { STREAM: 1, DGRAM: 2, RAW: 3 };
  return Object.fromEntries(
    Object.entries(families).map(([name, family]) => [
      `socket ${name}`,
      () => Object.values(kinds).some((kind) => attempt("socket", family, kind, 0) >= 0),
    ]),
  );
}

const EPERM = 1;
const ENOSYS = 38;
/** With arguments that the kernel itself finds wrong: EPERM then comes from the filter, before it looks. */
const refused = (result: number): boolean => result === -EPERM || result === -ENOSYS;

const CALLS: Readonly<Record<string, () => boolean>> = {
  "socketpair of datagrams": () => attempt("socketpair", 1, 2, 0, Buffer.alloc(8)) >= 0,
  io_uring_setup: () => !refused(attempt("io_uring_setup", 0, null)),
  ptrace: () => !refused(attempt("ptrace", 0x7fff, 0, 0, 0)),
  process_vm_readv: () => !refused(attempt("process_vm_readv", 0, null, 0, null, 0, 0)),
  pidfd_getfd: () => !refused(attempt("pidfd_getfd", -1, -1, 0)),
  unshare: () => !refused(attempt("unshare", 0)),
  setns: () => !refused(attempt("setns", -1, 0)),
  clone3: () => !refused(attempt("clone3", null, 0)),
  "clone with a namespace": () => !refused(attempt("clone", 0x1000_0000 | 0x200, 0, 0, 0, 0)),
  bpf: () => !refused(attempt("bpf", 0xffff, null, 0)),
  keyctl: () => !refused(attempt("keyctl", 0xffff, 0, 0, 0, 0)),
  TIOCSTI: () => !refused(attempt("ioctl", -1, 0x5412, null)),
  "another process's limits": () => !refused(attempt("prlimit64", process.ppid, 7, null, null)),
};

/** By its paths alone nobody but the daemon's user may read it, who the command may be too. */
const DAEMON: Readonly<Record<string, () => boolean>> = {
  "reading the daemon's environment": () => opens(`/proc/${process.ppid}/environ`),
  "reading the daemon's memory": () => opens(`/proc/${process.ppid}/mem`),
};

function opens(path: string): boolean {
  try {
    openSync(path, "r");
    return true;
  } catch {
    return false;
  }
}
