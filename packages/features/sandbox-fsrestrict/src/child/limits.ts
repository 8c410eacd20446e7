/** Resource limits (setrlimit(2)). They are held by process, but for the number of processes, which is by user. */
import { call } from "./libc.ts";

const RLIMIT_CPU = 0;
const RLIMIT_CORE = 4;
const RLIMIT_NPROC = 6;
const RLIMIT_AS = 9;
const RLIMIT_LOCKS = 10;

/** Soft and hard, never above what is in force. Throws SystemError. */
function limit(resource: number, soft: number, hard: number): void {
  const before = Buffer.alloc(16);
  call("prlimit64", "prlimit64", 0, resource, null, before);
  const lower = (value: number, present: bigint): bigint => (BigInt(value) < present ? BigInt(value) : present);
  const after = Buffer.alloc(16);
  const hardest = lower(hard, before.readBigUInt64LE(8));
  after.writeBigUInt64LE(lower(soft, hardest), 0);
  after.writeBigUInt64LE(hardest, 8);
  call("prlimit64", "prlimit64", 0, resource, after, null);
}

/** What the processes of this command are known by. */
export const limitToMark = (mark: number): void => limit(RLIMIT_LOCKS, mark, mark);

/** SIGXCPU, and SIGKILL a second later for whoever does not mind it. */
export const limitCpu = (seconds: number): void => limit(RLIMIT_CPU, seconds, seconds + 1);

/** The address space of each process. From here on this runtime can't grow either. */
export const limitMemory = (megabytes: number): void => limit(RLIMIT_AS, megabytes * 1_048_576, megabytes * 1_048_576);

/** No picture of a command's memory is left anywhere. */
export const limitCores = (): void => limit(RLIMIT_CORE, 0, 0);

/** Of the user: in a user namespace of its own a command is alone; elsewhere see `userPidsFor`. */
export const limitPids = (pids: number): void => limit(RLIMIT_NPROC, pids, pids);
