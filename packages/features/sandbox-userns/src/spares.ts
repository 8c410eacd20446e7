/**
 * Sandboxes that are made before they are needed: of the time of a command most is bubblewrap's and, with control groups, the
 * kernel's, which moves a process between them in 10 ms. Nobody was ever in one that waits; it is for the very same confinement, and
 * is ended rather than used where anything it shows is another file by now.
 */
import { statSync } from "node:fs";
import type { Clock, Confinement } from "@svc/contract";
import type { SessionGroup } from "@svc/kit/process";
import type { Launched } from "./launch.ts";

export interface Waiting {
  readonly group: SessionGroup | undefined;
  readonly launched: Launched;
}

export interface Spares {
  /** One that waits for exactly this. */
  take(key: string): Waiting | undefined;
  /** Sees to it that one waits soon. */
  keep(key: string, make: () => Promise<Waiting>): void;
  /** Resolves when none is being made or ended. */
  settled(): Promise<void>;
  /** Ends all that wait. Idempotent. */
  shutdown(): Promise<void>;
}

/** All that a sandbox is made from, and which files they are that it shows. */
export function keyOf(confinement: Confinement, view: readonly string[]): string {
  const shown = view.filter((_word, index) => /^--(?:ro-)?bind$/.test(view[index - 1] ?? ""));
  return JSON.stringify([confinement, view, shown.map(identity)]);
}

function identity(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found ? `${found.dev}:${found.ino}` : "";
}

/** For who is not to leave anything behind, as a probe. */
export const NO_SPARES: Pick<Spares, "take" | "keep"> = { take: () => undefined, keep: () => undefined };

/** Each holds some 4 MB. */
const MOST = 2;
/** Not while a command ends, or the next one begins: it would take their time. */
const SETTLED_MS = 100;
const IDLE_MS = 300_000;

export function createSpares(clock: Pick<Clock, "after">): Spares {
  const waiting = new Map<string, Waiting & { cancelIdle(): void }>();
  const coming = new Map<string, () => void>();
  const busy = new Set<Promise<void>>();
  let isShut = false;

  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => busy.delete(tracked));
    busy.add(tracked);
  };
  const settled = async (): Promise<void> => {
    while (busy.size > 0) await Promise.all(busy);
  };
  const forget = (key: string): Waiting | undefined => {
    const found = waiting.get(key);
    found?.cancelIdle();
    waiting.delete(key);
    return found;
  };
  const end = (spare: Waiting | undefined): void => {
    if (!spare) return;
    track(endWaiting(spare));
  };
  const add = (key: string, spare: Waiting): void => {
    // Two sessions of one key end at once: one waits already.
    if (isShut || waiting.has(key)) return end(spare);
    const oldest = [...waiting.keys()].slice(0, Math.max(0, waiting.size + 1 - MOST));
    for (const each of oldest) end(forget(each));
    setReferenced(spare, false);
    waiting.set(key, { ...spare, cancelIdle: clock.after(IDLE_MS, () => end(forget(key))) });
    const gone = (): void => {
      if (waiting.get(key)?.launched === spare.launched) end(forget(key));
    };
    spare.launched.child.once("exit", gone).once("error", gone);
  };

  return {
    take(key) {
      const found = forget(key);
      if (found) setReferenced(found, true);
      return found;
    },
    keep(key, make) {
      if (isShut || waiting.has(key)) return;
      coming.get(key)?.();
      const begin = (): void => {
        coming.delete(key);
        // Where it fails the next command makes its own, and says what is wrong.
        track(
          make().then(
            (spare) => add(key, spare),
            () => undefined,
          ),
        );
      };
      coming.set(key, clock.after(SETTLED_MS, begin));
    },
    settled,
    async shutdown() {
      isShut = true;
      for (const cancel of coming.values()) cancel();
      for (const key of waiting.keys()) end(forget(key));
      await settled();
    },
  };
}

export async function endWaiting({ group, launched: { child } }: Waiting): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    setChildReferenced(child, true);
    child.kill("SIGKILL");
    await ended;
  }
  for (const each of child.stdio) each?.destroy();
  await group?.close();
}

/** One that waits does not keep the daemon from ending. */
const setReferenced = ({ launched }: Waiting, on: boolean): void => setChildReferenced(launched.child, on);

function setChildReferenced(child: Launched["child"], on: boolean): void {
  const sockets = child.stdio as unknown as readonly ({ ref?(): void; unref?(): void } | null | undefined)[];
  for (const each of [child, ...sockets])
    if (on) each?.ref?.();
    else each?.unref?.();
}
