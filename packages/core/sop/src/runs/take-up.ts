/** What the last process left: each run goes on from the state that the disk has. */
import type { ActiveStatus } from "@svc/store";
import { commit } from "./after-commit.ts";
import { gateId, interruptedId } from "./definition.ts";
import { abandon } from "./drive.ts";
import { questionOf } from "./gate-answer.ts";
import type { RunParts } from "./parts.ts";
import { settleIn } from "./settle.ts";
import { enterStep } from "./transitions.ts";

/** Never rejects. */
export async function takeUp(parts: RunParts): Promise<void> {
  const { store, log } = parts;
  try {
    // Before anything runs: what runs now and is cancelled is tidied away by whoever is at it.
    const strays = store.sopRuns.strayTurns();
    for (const { id, status } of store.sopRuns.active()) await takeUpRun(parts, id, status);
    for (const { runId, turnId } of strays) await abandon(parts, runId, turnId);
  } catch (error) {
    log.error("the runs of the last process could not be looked at", { error: String(error) });
  }
}

async function takeUpRun(parts: RunParts, id: string, status: ActiveStatus): Promise<void> {
  if (status !== "waiting_approval") return parts.wake(id);
  try {
    await checkQuestion(parts, id);
  } catch (error) {
    parts.log.error("a run that waits could not be looked at", { run: id, error: String(error) });
  }
}

/**
 * A question and the state of its run change together, so one of them alone is not to be found, unless a database was put
 * together by hand. A run must not wait for what nobody was asked, nor for what was answered.
 */
async function checkQuestion(parts: RunParts, id: string): Promise<void> {
  const { store } = parts;
  const asked = ({ step }: { readonly step: number }) =>
    questionOf(parts, id, interruptedId(step)) ?? questionOf(parts, id, gateId(step));
  const before = store.sopRuns.read(id);
  if (before && asked(before)?.status === "waiting") return;
  await commit(store, (after) => {
    const run = store.sopRuns.read(id);
    if (run?.status !== "waiting_approval") return;
    const approval = asked(run);
    if (approval === undefined) enterStep(parts, run, run.step, after);
    else settleIn(parts, approval, after);
  });
}
