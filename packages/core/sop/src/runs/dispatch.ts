/** Events meet the procedures that wait for them. */
import { type ErrorCode, SvcError } from "@svc/contract";
import type { SopRun } from "@svc/store";
import type { Pending } from "../approvals/types.ts";
import type { LoadedSop, Priority, SopDefinition, SopTriggerEvent } from "../library/types.ts";
import { type Skip, SKIPPED } from "./admission.ts";
import { commit, pendingOf } from "./after-commit.ts";
import { beginRun } from "./begin.ts";
import type { RunParts } from "./parts.ts";
import type { Dispatched, Starter } from "./types.ts";

/** Inside a transaction. */
export const dispatchIn = (parts: RunParts, event: SopTriggerEvent, starter: Starter): Pending<Dispatched> =>
  startIn(parts, parts.library.matching(event), event, starter);

/** Inside a transaction: those of one procedure that its own schedule names. */
export function startIn(
  parts: RunParts,
  definitions: readonly SopDefinition[],
  event: SopTriggerEvent,
  starter: Starter,
): Pending<Dispatched> {
  return pendingOf((after) => {
    const runs: { sop: string; runId: string }[] = [];
    const skipped: { sop: string; reason: string }[] = [];
    // Where not all may run at a time, those that matter most do.
    for (const definition of definitions.toSorted((one, other) => RANK[one.priority] - RANK[other.priority])) {
      const sop = definition.name;
      const begun = beginRun(parts, definition, event, starter, after);
      if (typeof begun === "string") skipped.push({ sop, reason: begun });
      else runs.push({ sop, runId: begun.id });
    }
    return { runs, skipped };
  });
}

const RANK: Readonly<Record<Priority, number>> = { critical: 0, high: 1, normal: 2, low: 3 };

/** By name. Throws SOP_UNKNOWN, SOP_INVALID, SOP_NOT_MANUAL, SOP_BUSY, TOO_LARGE; rejects with STORE_*. */
export async function runByName(
  parts: RunParts,
  name: string,
  payload: string | null,
  starter: Starter,
): Promise<SopRun> {
  const { library, store } = parts;
  const { definition } = sopNamed(library, name);
  if (definition.triggers.every(({ type }) => type !== "manual")) throw new SvcError("SOP_NOT_MANUAL");
  const event: SopTriggerEvent = { source: "manual", topic: name, payload };
  if (!library.matching(event).some((one) => one.name === name)) {
    throw new SvcError("SOP_BUSY", "The condition of its manual trigger is not met by this payload.");
  }
  const begun = await commit(store, (after) => beginRun(parts, definition, event, starter, after));
  if (typeof begun === "string") throw new SvcError(CODES[begun] ?? "SOP_BUSY", SKIPPED[begun]);
  return begun;
}

/** It would be the same again. */
const CODES: Readonly<Partial<Record<Skip, ErrorCode>>> = {
  payload_too_large: "TOO_LARGE",
  unsafe_arguments: "SOP_INVALID",
};

/** Throws SOP_UNKNOWN, SOP_INVALID. */
export function sopNamed(library: RunParts["library"], name: string): LoadedSop {
  const loaded = library.get(name);
  if (loaded) return loaded;
  const broken = library.broken().find((one) => one.name === name);
  throw broken ? new SvcError("SOP_INVALID", broken.problem) : new SvcError("SOP_UNKNOWN");
}
