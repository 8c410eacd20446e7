/**
 * Without root a mount namespace needs a user namespace, and the kernel gives one only to a process of a single thread. This
 * runtime has several, which do nothing here: they are ended, one thread at a time, while the main one goes on to its `execve`.
 * Nothing may be given to them after that, or it is waited for for ever: see `workAlone`.
 */
import koffi from "koffi";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { call, SystemError } from "./libc.ts";

/** What this runtime has its other threads do: compile hot code, and collect garbage. Long before `enterUserNamespace`. */
export function workAlone(): void {
  for (const flag of DONE_ELSEWHERE) setFlagsFromString(`--no-${flag}`);
}

const DONE_ELSEWHERE = [
  "opt",
  "maglev",
  "sparkplug",
  "concurrent-recompilation",
  "concurrent-sparkplug",
  "concurrent-marking",
  "concurrent-sweeping",
  "concurrent-array-buffer-sweeping",
  "cppheap-concurrent-marking",
  "parallel-scavenge",
  "parallel-marking",
  "parallel-compaction",
  "parallel-pointer-update",
  "parallel-gc-clearing",
  "parallel-reclaim-unmodified-wrappers",
];

/** Throws SystemError `user-namespace`. */
export function enterUserNamespace(): void {
  const uid = process.getuid!();
  const gid = process.getgid!();
  endOtherThreads();
  call("user-namespace", "unshare", CLONE_NEWUSER | CLONE_NEWNS);
  // The same ids as before: no others can be had.
  writeFileSync("/proc/self/setgroups", "deny");
  writeFileSync("/proc/self/uid_map", `${uid} ${uid} 1`);
  writeFileSync("/proc/self/gid_map", `${gid} ${gid} 1`);
}

const CLONE_NEWNS = 0x2_0000;
const CLONE_NEWUSER = 0x1000_0000;

function endOtherThreads(): void {
  const handler = exitThreadCode();
  // struct kernel_sigaction: handler, flags, restorer (never used: the handler does not return), mask
  const action = Buffer.alloc(32);
  action.writeBigUInt64LE(handler, 0);
  action.writeBigUInt64LE(SA_NODEFER | SA_RESTORER, 8);
  action.writeBigUInt64LE(handler, 16);
  call("threads", "rt_sigaction", SIGSETXID, action, null, 8);
  waitUntilIdle();
  for (const thread of otherThreads()) call("threads", "tgkill", process.pid, thread, SIGSETXID);
  for (let turn = 0; otherThreads().length > 0; turn += 1) {
    if (turn > MAX_TURNS) throw new SystemError("threads", "EBUSY");
    call("threads", "nanosleep", TURN, null);
  }
}

/** One that works may hold a lock that the main thread needs later: they all have to sleep, and not to have woken in between. */
function waitUntilIdle(): void {
  let before = "";
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const now = otherThreads().map(stateOf).join("\n");
    if (now === before && !/^State:\s+[^S]/m.test(now)) return;
    before = now;
    call("threads", "nanosleep", TURN, null);
  }
  throw new SystemError("threads", "EBUSY");
}

/** Its state, and how often it was woken and put to sleep. */
function stateOf(thread: number): string {
  const status = readFileSync(`/proc/self/task/${thread}/status`, "latin1");
  return (status.match(/^(State|(non)?voluntary_ctxt_switches):.*$/gm) ?? []).join("\n");
}

/** struct timespec: 0.1 ms. One turn is enough as a rule; on a busy machine a thread may have to wait for its own end. */
const TURN = Buffer.from(BigUint64Array.of(0n, 100_000n).buffer);
const MAX_TURNS = 50_000;
/** A real-time signal that glibc keeps for itself, so that no thread can block it. */
const SIGSETXID = 33;
const SA_NODEFER = 0x4000_0000n;
const SA_RESTORER = 0x0400_0000n;

const otherThreads = (): number[] =>
  readdirSync("/proc/self/task")
    .map(Number)
    .filter((thread) => thread !== process.pid);

/** The address of `exit(0)`, the system call that ends one thread, as machine code. The library's functions end the process. */
function exitThreadCode(): bigint {
  const libc = koffi.load(null);
  const mmap = libc.func("intptr_t mmap(void *at, size_t length, int protection, int flags, int fd, long offset)");
  const copy = libc.func("void *memcpy(intptr_t to, const void *from, size_t length)");
  const code = EXIT_THREAD[process.arch];
  if (code === undefined) throw new SystemError("architecture", process.arch);
  const page = BigInt(mmap(null, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0));
  if (page === -1n) throw new SystemError("threads", "ENOMEM");
  copy(page, Buffer.from(code), code.length);
  call("threads", "mprotect", page, PAGE_BYTES, PROT_READ | PROT_EXEC);
  return page;
}

const PAGE_BYTES = 65_536;
const PROT_READ = 1;
const PROT_WRITE = 2;
const PROT_EXEC = 4;
const MAP_PRIVATE_ANONYMOUS = 0x22;

const EXIT_THREAD: Readonly<Record<string, readonly number[]>> = {
  // xor edi, edi; mov eax, 60; syscall
  x64: [0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05],
  // mov x0, #0; mov x8, #93; svc #0
  arm64: [0x00, 0x00, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4],
};
