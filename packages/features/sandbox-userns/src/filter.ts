/** The filter for `bwrap --seccomp`: what namespaces do not keep from a command, and parts of the kernel that attacks on it go through. */
import {
  ARCHITECTURES,
  filterOf,
  type FilterPolicy,
  ifEqual,
  load,
  low,
  MOUNTING,
  NO_NAMESPACE,
  NO_TYPING,
  refuse,
  verdict,
  YES,
} from "@svc/kit/seccomp";
import { unavailable } from "./bubblewrap.ts";

/** An array of `struct sock_filter` for this machine. Throws SANDBOX_UNAVAILABLE where the numbers of its calls are not known. */
export function filterHere(arch: string = process.arch): Buffer {
  const known = ARCHITECTURES.find((each) => each === arch);
  if (known === undefined) throw unavailable("The system calls of this machine's architecture are not known.");
  return filterOf(POLICY, known);
}

const EAFNOSUPPORT = 97;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];

export const POLICY: FilterPolicy = {
  refused: [
    // other processes of the sandbox: a command has nothing to look for in them
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    // does the work of other calls, past every filter of them
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    ...MOUNTING,
    // files by another way than their path
    "open_by_handle_at",
    // keys have no namespace
    "add_key",
    "request_key",
    "keyctl",
    // parts of the kernel that attacks on it go through
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "syslog",
  ],
  // Its flags are in memory, where no filter reads them: libraries fall back to clone(2).
  unknown: ["clone3"],
  checks: {
    clone: NO_NAMESPACE,
    ioctl: NO_TYPING,
    // Others have no namespaces: AF_VSOCK reaches the host of a virtual machine, AF_BLUETOOTH the radio.
    socket: [
      load(low(0)),
      ...FAMILIES.flatMap((family) => [ifEqual(family, 0, 1), YES]),
      verdict(refuse(EAFNOSUPPORT)),
    ],
  },
};
