/** Before anything of a home is used: a restore that was killed half-way is finished. Costs one look at the disk. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { type Home, homeOf } from "@svc/config/home";

const ASK_EVERY_MS = 50;
/** A few renames take no longer. */
const WAIT_AT_MOST_MS = 5_000;

/** Throws HOME_UNWRITABLE. */
export async function finishInterrupted(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { root, lock } = homeOf(env);
  const isPending = (): boolean => existsSync(join(root, "restore.json"));
  if (!isPending()) return;
  const endsAtMs = systemClock.monotonic() + WAIT_AT_MOST_MS;
  // Whoever has the home is restoring it, or finishing what another began.
  while (isPending() && !(await finished(root, lock)) && systemClock.monotonic() < endsAtMs) {
    await systemClock.sleep(ASK_EVERY_MS);
  }
}

async function finished(root: string, lock: string): Promise<boolean> {
  const [{ lockHome }, { finishSwap }] = await Promise.all([import("@svc/store"), import("./swap.ts")]);
  try {
    const unlock = lockHome(lock);
    try {
      finishSwap(root);
      return true;
    } finally {
      unlock();
    }
  } catch (error) {
    if (error instanceof SvcError && error.code === "ALREADY_RUNNING") return false;
    throw error;
  }
}

/** At a start, with the home's lock: what a killed restore has unpacked must not wait for the next restore to go. */
export async function clearKilledRestore(home: Home): Promise<void> {
  if (!readdirSync(home.root).some((name) => name.startsWith("restore-"))) return;
  const { removeKilledRestore } = await import("./prepare-restore.ts");
  removeKilledRestore(home);
}
