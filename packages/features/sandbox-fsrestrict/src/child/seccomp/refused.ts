/** System calls that no command may make, whatever their arguments. */
import { MOUNTING, type Syscall } from "@svc/kit/seccomp";

/** Refused with EPERM. */
export const REFUSED: readonly Syscall[] = [
  // other processes: their memory, their files
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "process_madvise",
  "kcmp",
  "pidfd_getfd",
  // does the work of other calls, past every filter of them
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  ...MOUNTING,
  // files by another way than their path
  "name_to_handle_at",
  "open_by_handle_at",
  "fanotify_init",
  // objects that have no path, live on after the command, and belong to every process of the user
  "shmget",
  "shmat",
  "shmctl",
  "shmdt",
  "semget",
  "semop",
  "semtimedop",
  "semctl",
  "msgget",
  "msgsnd",
  "msgrcv",
  "msgctl",
  "mq_open",
  "mq_unlink",
  "add_key",
  "request_key",
  "keyctl",
  // parts of the kernel that attacks on it go through
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "modify_ldt",
  "lookup_dcookie",
  "nfsservctl",
  "vhangup",
  // the machine
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "reboot",
  "swapon",
  "swapoff",
  "acct",
  "quotactl",
  "quotactl_fd",
  "settimeofday",
  "clock_settime",
  "clock_adjtime",
  "adjtimex",
  "sethostname",
  "setdomainname",
  "iopl",
  "ioperm",
  "syslog",
];

/** Refused as if the kernel had none: programs then use older calls, whose arguments a filter can read. */
export const UNKNOWN: readonly Syscall[] = ["clone3", "openat2"];
