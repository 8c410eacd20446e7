import { readFileSync } from "node:fs";
import {
  type Clock,
  type Confinement,
  type Contributions,
  type FeatureContext,
  type SandboxBackend,
  type SandboxLimit,
  type SandboxProbe,
  SvcError,
} from "@svc/contract";
import { type Starter, createStarter } from "./starter.ts";
import { type GroupMaker, findGroupMaker, proveConfinement, reasonOf } from "@svc/kit/process";
import type { Report } from "./request.ts";
import { makeTemporary, openSession, trialRestriction } from "./session.ts";
import { createSpare, type Spare, withoutKeeping } from "./spare.ts";
import { failureReason, reportsIn } from "./verdict.ts";

export function create({ child, clock }: FeatureContext<unknown>): Contributions {
  const { backend, shutdown } = createFsrestrict({ command: () => child("sandbox-exec"), clock });
  return { sandbox: backend, shutdown };
}

export interface FsrestrictDeps {
  /** What becomes a command: a program and its first arguments. Called when one is needed. */
  readonly command: () => readonly [file: string, ...args: string[]];
  readonly clock: Pick<Clock, "after">;
  /** All that is mounted, in any form that changes with it. Default: `/proc/self/mountinfo`. */
  readonly mounts?: () => string;
}

export interface Fsrestrict {
  readonly backend: SandboxBackend;
  /** Ends what waits for a command. Idempotent. */
  shutdown(): Promise<void>;
}

/** Nothing is started before a command is. */
export function createFsrestrict({ command, clock, mounts = readMounts }: FsrestrictDeps): Fsrestrict {
  const starter = createStarter(command);
  const spare = createSpare({ starter, clock });
  let found: Promise<GroupMaker | undefined> | undefined;
  const groupMaker = () => (found ??= findGroupMaker());
  const openWith = async (confinement: Confinement, spare: Spare) =>
    openSession(confinement, { starter, spare, clock, mounts, groups: await groupMaker() });
  const proveWith = (confinement: Confinement) => openWith(confinement, withoutKeeping(spare));
  const backend: SandboxBackend = {
    id: "fsrestrict",
    open: (confinement) => openWith(confinement, spare),
    async probe(confinement, signal): Promise<SandboxProbe> {
      try {
        // Side by side: each is the start of a process.
        const [tried, proved] = await Promise.allSettled([
          trial(confinement, signal, starter),
          proveConfinement({ open: proveWith, confinement, signal, offline: FILTERED }),
        ]);
        const reason = objection(valueOf(tried), confinement) ?? valueOf(proved);
        if (reason !== undefined) return { available: false, reason };
        const groups = await groupMaker();
        return { available: true, unenforced: unheld(confinement, groups), notes: notesOn(confinement, groups) };
      } catch (error) {
        signal.throwIfAborted();
        return { available: false, reason: reasonOf(error) };
      } finally {
        starter.rest();
      }
    },
  };
  return { backend, shutdown: () => spare.shutdown() };
}

const readMounts = (): string => readFileSync("/proc/self/mountinfo", "latin1");

function valueOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

/** That a filter is there; what it refuses was tried before. Of the shell itself: it reads nothing of other processes. */
const FILTERED = `while read -r key value; do [ "$key $value" = "Seccomp: 2" ] && echo offline; done </proc/$$/status`;

function objection(tried: Report, { user }: Confinement): string | undefined {
  if (tried.kind === "failed") return failureReason(tried);
  if (tried.kind !== "tried") return "its trial did not come to an end";
  if (tried.through.length > 0) return `it does not confine here: ${tried.through.join(", ")} got through`;
  if (!user && process.getuid?.() !== 0 && tried.abi < ABI_SIGNALS) {
    return "commands could signal other processes of the same user, which Landlock prevents from Linux 6.12 on";
  }
  return undefined;
}

/** `LANDLOCK_SCOPE_SIGNAL`; with a user of its own a command can signal nobody else's processes. */
const ABI_SIGNALS = 6;

/** The kernel counts no processes of root but in a group. */
const unheld = ({ user, limits }: Confinement, groups: GroupMaker | undefined): SandboxLimit[] =>
  limits.pids !== undefined && !groups && !user && process.getuid?.() === 0 ? ["pids"] : [];

function notesOn({ limits }: Confinement, groups: GroupMaker | undefined): string[] {
  const notes: string[] = [];
  if (!groups && limits.memoryMb !== undefined) {
    notes.push(
      "memory_mb holds for each process by itself: control groups, which count them together, are not ours here",
    );
  }
  if (limits.cpuSecs !== undefined) notes.push("cpu_secs holds for each process by itself");
  return notes;
}

/** What a child that confined itself could still do. */
async function trial(confinement: Confinement, signal: AbortSignal, starter: Starter): Promise<Report> {
  await using temporary = await makeTemporary(confinement);
  const restriction = await trialRestriction(confinement, temporary.path);
  signal.throwIfAborted();
  const { child, reported } = starter.start({ kind: "trial", restriction });
  const end = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", end, { once: true });
  const [report] = reportsIn(await reported);
  signal.removeEventListener("abort", end);
  if (report) return report;
  throw new SvcError("SANDBOX_UNAVAILABLE", "The process that confines commands does not start.");
}
