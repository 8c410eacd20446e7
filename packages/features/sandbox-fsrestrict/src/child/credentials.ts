/** Who the command is, and what it may never become. */
import { attempt, call } from "./libc.ts";

/** Gives up root for good. Throws SystemError. */
export function becomeUser({ uid, gid }: { readonly uid: number; readonly gid: number }): void {
  call("setgroups", "setgroups", 0, null);
  call("setresgid", "setresgid", gid, gid, gid);
  call("setresuid", "setresuid", uid, uid, uid);
}

/**
 * Every capability, also those that root has by being root and those that a service manager handed over. What can't be given up
 * because it was not there is no failure; that none is left in force is.
 */
export function dropCapabilities(): void {
  attempt("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (let capability = 0; attempt("prctl", PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability += 1) {
    attempt("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  attempt("prctl", PR_SET_SECUREBITS, NO_ROOT_POWERS, 0, 0, 0);
  const header = Buffer.alloc(8);
  header.writeUInt32LE(LINUX_CAPABILITY_VERSION_3, 0);
  call("capset", "capset", header, Buffer.alloc(24));
}

/** Set-user-ID programs give nothing any more. Landlock and seccomp ask for it. */
export const dropNewPrivileges = (): number => call("no_new_privs", "prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

/**
 * This process, and the command's own program that it becomes, end with the daemon. A change of ids turns it off. False: the
 * daemon has ended already.
 */
export function endWithDaemon(daemon: number): boolean {
  call("pdeathsig", "prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return process.ppid === daemon;
}

const SIGKILL = 9;
const PR_SET_PDEATHSIG = 1;
const PR_CAPBSET_READ = 23;
const PR_CAPBSET_DROP = 24;
const PR_SET_SECUREBITS = 28;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
/** `SECBIT_NOROOT | NO_SETUID_FIXUP | KEEP_CAPS_LOCKED | NO_CAP_AMBIENT_RAISE`, each locked: capabilities(7). */
const NO_ROOT_POWERS = 0b1110_1111;
const LINUX_CAPABILITY_VERSION_3 = 0x2008_0522;
