import type { ChildProcess } from "node:child_process";
import type { Clock, Confinement, ExecResult, SandboxSession } from "@svc/contract";
import { confinedSession, limitBySigns, type SessionGroup } from "@svc/kit/process";
import { unavailable, whyNoNamespaces } from "./bubblewrap.ts";
import { isRoot, launch, type Launched, type Machine } from "./launch.ts";
import { endWaiting, keyOf, type Spares, type Waiting } from "./spares.ts";
import { viewOf } from "./view.ts";

export interface SessionParts {
  readonly machine: Machine;
  readonly clock: Pick<Clock, "after">;
  readonly spares: Pick<Spares, "take" | "keep">;
}

/** A bubblewrap for each command, all of them in one group. */
export async function usernsSession(
  confinement: Confinement,
  { machine, clock, spares }: SessionParts,
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
