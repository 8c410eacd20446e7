/**
 * A sandbox that is made before it is needed: its child is restricted already and waits for a command. It is for the very same
 * confinement, serves one command, and is ended rather than used where one of its paths is another file by now.
 */
import type { Clock } from "@svc/contract";
import type { Scratch } from "@svc/kit/files";
import type { SessionGroup } from "@svc/kit/process";
import type { Restriction } from "./request.ts";
import type { Started, Starter } from "./starter.ts";

/** What a session confines its commands with. */
export interface Sandbox {
  readonly temporary: Scratch;
  readonly group: SessionGroup | undefined;
  readonly restriction: Restriction;
  /** Waits for its command. */
  readonly waiting?: Started | undefined;
}

export interface SandboxPlan {
  /** The same for the same confinement over the same files. */
  readonly key: string;
  make(): Promise<Sandbox>;
}

export interface Spare {
  /** The one that waits for exactly this. */
  take(key: string): Sandbox | undefined;
  /** A moment later one waits for this plan, and for no other. */
  keep(plan: () => Promise<SandboxPlan>): void;
  /** Removes a sandbox whose command has ended, or that needs none. */
  end(sandbox: Sandbox): Promise<void>;
  /** Ends the one that waits, and resolves when every other end has come. What runs goes on. Idempotent. */
  shutdown(): Promise<void>;
}

/** Then the one that waits is let go: it holds some 40 MB. */
const IDLE_MS = 300_000;
/** Not while a command ends, or the next one begins: making one would take their time. */
const SETTLED_MS = 100;

export function createSpare({ starter, clock }: { starter: Starter; clock: Pick<Clock, "after"> }): Spare {
  let waiting: (Sandbox & { readonly key: string; readonly waiting: Started }) | undefined;
  let making: Promise<void> | undefined;
  let cancelSettled = (): void => undefined;
  let cancelIdle = (): void => undefined;
  let isShut = false;
  const ending = new Set<Promise<void>>();

  const end = (sandbox: Sandbox): Promise<void> => {
    const removed = endSandbox(sandbox);
    const tracked = removed.finally(() => ending.delete(tracked));
    ending.add(tracked);
    return tracked;
  };
  const letGo = (): void => {
    const sandbox = waiting;
    waiting = undefined;
    if (sandbox) void end(sandbox);
  };
  const restLater = (): void => {
    cancelIdle();
    cancelIdle = clock.after(IDLE_MS, () => {
      // While a command runs, the next one is likely.
      if (starter.isBusy) return restLater();
      letGo();
      starter.rest();
    });
  };
  const make = async (planned: () => Promise<SandboxPlan>): Promise<void> => {
    const plan = await planned();
    if (isShut || waiting?.key === plan.key) return;
    letGo();
    const sandbox = await plan.make();
    if (isShut) return void end(sandbox);
    const started = startIn(sandbox);
    const spare = { ...sandbox, key: plan.key, waiting: started };
    waiting = spare;
    setReferenced(started, false);
    const gone = (): void => {
      if (waiting === spare) letGo();
    };
    started.child.once("exit", gone).once("error", gone);
  };

  const startIn = (sandbox: Sandbox): Started => {
    try {
      return starter.start({ kind: "command", restriction: sandbox.restriction });
    } catch (error) {
      void end(sandbox);
      throw error;
    }
  };

  return {
    take(key) {
      if (waiting?.key !== key) return undefined;
      const sandbox = waiting;
      waiting = undefined;
      setReferenced(sandbox.waiting, true);
      return sandbox;
    },
    keep(plan) {
      if (isShut) return;
      cancelSettled();
      cancelSettled = clock.after(SETTLED_MS, () => {
        restLater();
        // Where it fails, the next command makes its own, and says what is wrong.
        making ??= make(plan)
          .catch(() => undefined)
          .finally(() => (making = undefined));
      });
    },
    end,
    async shutdown() {
      isShut = true;
      cancelSettled();
      cancelIdle();
      await making;
      letGo();
      starter.rest();
      await Promise.all(ending);
    },
  };
}

/** For a probe: no command is to come, and one that waits is for commands. */
export const withoutKeeping = ({ end, shutdown }: Spare): Spare => ({
  take: () => undefined,
  keep: () => undefined,
  end,
  shutdown,
});

async function endSandbox({ waiting, temporary, group }: Sandbox): Promise<void> {
  if (waiting) await killed(waiting);
  await Promise.all([temporary.dispose(), group?.close()]);
}

export const hasEnded = ({ child }: Started): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

async function killed(started: Started): Promise<void> {
  const { child } = started;
  if (hasEnded(started)) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.ref();
  child.kill("SIGKILL");
  await exited;
  for (const each of child.stdio) each?.destroy();
}

/** One that waits does not keep the daemon from ending. */
function setReferenced({ child }: Started, on: boolean): void {
  const sockets = child.stdio as unknown as readonly ({ ref(): void; unref(): void } | null | undefined)[];
  for (const each of [child, ...sockets])
    if (on) each?.ref();
    else each?.unref();
}
