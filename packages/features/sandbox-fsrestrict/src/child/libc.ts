/**
 * The C library, through koffi. Everything here acts on the calling thread, the main one: it is the thread that `execve` keeps.
 * The glibc functions that change a user's ids tell all threads; the bare system calls used here don't.
 */
import koffi from "koffi";
import { type Syscall, SYSCALLS } from "@svc/kit/seccomp";

/** A number, a string or buffer handed over by its address, or null. */
export type Argument = number | bigint | string | Buffer | null;

/** A system call that failed, in the step that is the message. */
export class SystemError extends Error {
  /** As errno(3) names it. */
  readonly errno: string;

  constructor(step: string, errno: string) {
    super(step);
    this.name = "SystemError";
    this.errno = errno;
  }
}

const libc = koffi.load(null);
const syscall = libc.func("long syscall(long number, ...)");
const execvpe = libc.func("int execvpe(const char *file, const char **argv, const char **envp)");
const setenv = libc.func("int setenv(const char *name, const char *value, int overwrite)");
const signal = libc.func("void *signal(int number, void *handler)");

/** What it returns, or `-errno`. */
export function attempt(name: Syscall, ...args: readonly Argument[]): number {
  const number = SYSCALLS[name];
  if (number === undefined) return -ENOSYS;
  const result = Number(syscall(number, ...args.flatMap(typed)));
  return result === -1 ? -koffi.errno() : result;
}

/** Throws SystemError. */
export function call(step: string, name: Syscall, ...args: readonly Argument[]): number {
  const result = attempt(name, ...args);
  if (result < 0) throw new SystemError(step, errnoName(-result));
  return result;
}

/** Becomes another program, looked for on the PATH of `env`. Returns only when that fails, with the name of the errno. */
export function execute(words: readonly string[], env: Readonly<Record<string, string>>): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // It looks at the PATH of this process, not at that of the one to come.
  setenv("PATH", env["PATH"] ?? "", 1);
  execvpe(words[0], [...words, null], [...variables, null]);
  return errnoName(koffi.errno());
}

/** What this runtime ignores or handles would stay ignored in the program: `yes | head` would never end. */
export function defaultSignals(): void {
  for (let number = 1; number < REAL_TIME_SIGNALS; number += 1) signal(number, null);
}

/** At once, with nothing that this runtime does at its end. */
export function exit(code: number): never {
  attempt("exit_group", code);
  throw new SystemError("exit_group", "EINVAL");
}

/** SIGALRM ends this process after so many seconds; 0: not any more. It would go on in the program that this becomes. */
export function endAfter(seconds: number): void {
  // struct itimerval: an interval, and the time to the first
  call("setitimer", "setitimer", ITIMER_REAL, Buffer.from(BigInt64Array.of(0n, 0n, BigInt(seconds), 0n).buffer), null);
}

const ITIMER_REAL = 0;

export const errnoName = (errno: number): string =>
  Object.entries(koffi.os.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`;

const ENOSYS = 38;
const REAL_TIME_SIGNALS = 32;

function typed(value: Argument): readonly [string, Argument] {
  if (typeof value === "string") return ["const char *", value];
  return typeof value === "object" ? ["void *", value] : ["int64_t", value];
}
