/** `@svc/kit/seccomp`: filters of system calls, built for the machine they run on. */
export * from "./policy.ts";
export * from "./policy.ts";
export { type Architecture, ARCHITECTURES, NEWEST_SYSCALL, type Syscall, SYSCALLS, syscallsOf } from "./syscalls.ts";
