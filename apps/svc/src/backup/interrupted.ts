/** Before anything of a home is used: a restore that was killed half-way is finished. Costs one look at the disk. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { homeOf } from "@svc/kernel";

/** Throws HOME_UNWRITABLE. */
export async function finishInterrupted(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { root, lock } = homeOf(env);
  if (!existsSync(join(root, "restore.json"))) return;
  const [{ lockHome }, { finishSwap }] = await Promise.all([import("@svc/store"), import("./swap.ts")]);
  try {
    const unlock = lockHome(lock);
    try {
      finishSwap(root);
    } finally {
      unlock();
    }
  } catch (error) {
    // Whoever has the home is the one that is restoring it.
    if (!(error instanceof SvcError) || error.code !== "ALREADY_RUNNING") throw error;
  }
}
