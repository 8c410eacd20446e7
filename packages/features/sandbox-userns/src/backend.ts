import type {
  Clock,
  Confinement,
  ExecResult,
  SandboxBackend,
  SandboxLimit,
  SandboxProbe,
  SandboxSession,
} from "@svc/contract";
import {
  type SessionGroup,
  confinedSession,
  findGroupMaker,
  limitBySigns,
  proveConfinement,
  reasonOf,
} from "@svc/kit/process";
import { findBubblewrap, unavailable, whyNoNamespaces } from "./bubblewrap.ts";
import { type Launched, type Machine, isRoot, launch } from "./launch.ts";
import { NO_SPARES, type Spares, type Waiting, createSpares, endWaiting, keyOf } from "./spares.ts";
import type { ChildProcess } from "node:child_process";
import { viewOf } from "./view.ts";

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
  const openWith = async (confinement: Confinement, spares: SessionDeps["spares"]): Promise<SandboxSession> => {
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
        const enforced = Object.entries(confinement.limits).filter(
          ([name]) => !unenforced.includes(name as SandboxLimit),
        );
        const proved = { ...confinement, limits: Object.fromEntries(enforced) };
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

interface SessionDeps {
  readonly machine: Machine;
  readonly clock: Pick<Clock, "after">;
  readonly spares: Pick<Spares, "take" | "keep">;
}

/** A bubblewrap for each command, all of them in one group. */
async function usernsSession(
  confinement: Confinement,
  { machine, clock, spares }: SessionDeps,
): Promise<SandboxSession> {
  const { limits, user } = confinement;
  if (isRoot() && user && machine.setpriv === undefined) {
    throw unavailable(
      "setpriv is not installed, with which root's commands become another user's: install util-linux.",
    );
  }
  const view = await viewOf(confinement);
  const key = keyOf(confinement, view);
  const make = async (): Promise<Waiting> => {
    const group = await groupOf(confinement, machine);
    try {
      return { group, launched: launch({ confinement, machine, view, group }) };
    } catch (error) {
      await group?.close();
      throw error;
    }
  };
  const spare = spares.take(key);
  const group = spare ? spare.group : await groupOf(confinement, machine);
  const running = new WeakMap<ChildProcess, Launched>();
  let waiting = spare?.launched;
  return confinedSession(
    confinement,
    {
      holdsAll: true,
      start(command) {
        const launched = waiting ?? launch({ confinement, machine, view, group });
        waiting = undefined;
        launched.begin(command);
        running.set(launched.child, launched);
        return launched.child;
      },
      async judge(result, child) {
        const judged = await judge(result, { limits, group, gotInside: running.get(child)!.gotInside() });
        spares.keep(key, make);
        return judged;
      },
      async close() {
        await (waiting ? endWaiting({ group, launched: waiting }) : group?.close());
      },
    },
    { clock },
  );
}

async function groupOf({ limits }: Confinement, { groups }: Machine): Promise<SessionGroup | undefined> {
  const needsGroup = limits.memoryMb !== undefined || limits.pids !== undefined;
  return needsGroup ? groups?.make(limits, OWN_PROCESSES) : undefined;
}

/** Of bubblewrap in the group of a session: itself and process 1. */
const OWN_PROCESSES = 2;

interface Verdict {
  readonly limits: Confinement["limits"];
  readonly group: SessionGroup | undefined;
  readonly gotInside: boolean;
}

async function judge(result: ExecResult, { limits, group, gotInside }: Verdict): Promise<ExecResult> {
  if (!gotInside && result.signal === null && !result.timedOut && /^bwrap: /m.test(result.stderr)) {
    throw await whyNoNamespaces(result.stderr);
  }
  const limit = (await group?.reached()) ?? limitBySigns(result, limits);
  return limit ? { ...result, limit } : result;
}
