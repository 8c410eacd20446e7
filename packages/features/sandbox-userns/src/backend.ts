import {
  type Clock,
  type Confinement,
  type SandboxBackend,
  type SandboxLimit,
  type SandboxProbe,
  type SandboxSession,
} from "@svc/contract";
import { findGroupMaker, proveConfinement, reasonOf } from "@svc/kit/process";
import { findBubblewrap, unavailable } from "./bubblewrap.ts";
import { isRoot, type Machine } from "./launch.ts";
import { type SessionParts, usernsSession } from "./session.ts";
import { createSpares, NO_SPARES } from "./spares.ts";

export interface UsernsOptions {
  readonly clock: Pick<Clock, "after">;
  /** Where bwrap is looked for. Default: the daemon's PATH. */
  readonly path?: string;
}

export interface Userns {
  readonly backend: SandboxBackend;
  /** Resolves when nothing is being made for commands to come. */
  settled(): Promise<void>;
  /** Ends what waits for a command. Idempotent. */
  shutdown(): Promise<void>;
}

/** bubblewrap around commands. Throws SANDBOX_UNAVAILABLE where it can't do what a confinement asks for. */
export function createUserns({ clock, path }: UsernsOptions): Userns {
  const spares = createSpares(clock);
  let found: Promise<Machine> | undefined;
  const machine = (): Promise<Machine> =>
    (found ??= look(path).catch((error: unknown) => {
      found = undefined; // it may be installed in the meantime
      throw error;
    }));
  const openWith = async (confinement: Confinement, spares: SessionParts["spares"]): Promise<SandboxSession> => {
    refuseOthersUser(confinement);
    const here = await machine();
    const broken = unheld(confinement, here);
    if (broken.length > 0) throw unavailable("Limits that a sandbox of root can't hold here were asked for.");
    return usernsSession(confinement, { machine: here, clock, spares });
  };
  const prove = (confinement: Confinement) => openWith(confinement, NO_SPARES);
  const backend: SandboxBackend = {
    id: "userns",
    open: (confinement) => openWith(confinement, spares),
    async probe(confinement, signal): Promise<SandboxProbe> {
      try {
        const here = await machine();
        const unenforced = unheld(confinement, here);
        const kept = Object.entries(confinement.limits).filter(([name]) => !unenforced.includes(name as SandboxLimit));
        const proved = { ...confinement, limits: Object.fromEntries(kept) };
        const reason = await proveConfinement({ open: prove, confinement: proved, signal, offline: await offline() });
        if (reason !== undefined) return { available: false, reason };
        return { available: true, unenforced, notes: notesOn(proved, here) };
      } catch (error) {
        signal.throwIfAborted();
        return { available: false, reason: reasonOf(error) };
      }
    },
  };
  return { backend, settled: () => spares.settled(), shutdown: () => spares.shutdown() };
}

async function look(path: string | undefined): Promise<Machine> {
  const [bubblewrap, groups] = await Promise.all([findBubblewrap(path), findGroupMaker()]);
  return { ...bubblewrap, groups };
}

/** Root itself is bound by no rlimit but that of processor time. */
function unheld({ limits, user }: Confinement, { groups }: Machine): SandboxLimit[] {
  if (groups || !isRoot() || user) return [];
  return (["memoryMb", "pids"] as const).filter((limit) => limits[limit] !== undefined);
}

function notesOn({ limits }: Confinement, { groups, disableUserns }: Machine): string[] {
  const notes: string[] = [];
  if (!groups && limits.memoryMb !== undefined) {
    notes.push(
      "memory_mb holds for each process by itself: control groups, which count them together, are not ours here",
    );
  }
  if (limits.cpuSecs !== undefined) notes.push("cpu_secs holds for each process by itself");
  if (!disableUserns)
    notes.push("this bubblewrap is older than 0.8, so that only the filter of system calls forbids namespaces");
  return notes;
}

/** Namespaces are told by their numbers: inside, it is another one than the daemon's. */
async function offline(): Promise<string> {
  const { readlink } = await import("node:fs/promises");
  const own = await readlink("/proc/self/ns/net");
  return `n=$(readlink /proc/self/ns/net); [ -n "$n" ] && [ "$n" != '${own}' ] && echo offline`;
}

function refuseOthersUser({ user }: Confinement): void {
  if (!user || isRoot() || user.uid === process.getuid?.()) return;
  throw unavailable("Only root can run commands as another user.");
}
