/** Whether a run may begin: as few at a time, and as long after the last, as the procedure says. */

export interface AdmissionFacts {
  readonly maxConcurrent: number;
  readonly cooldownMs: number;
  readonly maxConcurrentTotal: number;
  /** Of this procedure, those that wait for a person included. */
  readonly activeRuns: number;
  /** Of all procedures. */
  readonly activeRunsTotal: number;
  /** When its last run ended. */
  readonly lastEndMs: number | undefined;
  readonly nowMs: number;
}

export type Skip = "max_concurrent" | "cooldown" | "max_concurrent_total" | "payload_too_large" | "unsafe_arguments";

/** Undefined: it may. */
export function skipReason(facts: AdmissionFacts): Skip | undefined {
  if (facts.activeRuns >= facts.maxConcurrent) return "max_concurrent";
  if (isCooling(facts)) return "cooldown";
  if (facts.activeRunsTotal >= facts.maxConcurrentTotal) return "max_concurrent_total";
  return undefined;
}

/** A clock that was set back may put the last end into the future: that must not stop a procedure for years. */
const isCooling = ({ lastEndMs, nowMs, cooldownMs }: AdmissionFacts): boolean =>
  lastEndMs !== undefined && Math.abs(nowMs - lastEndMs) < cooldownMs;

/** For a person. */
export const SKIPPED: Readonly<Record<Skip, string>> = {
  max_concurrent: "As many of its runs as may be at a time (max_concurrent) have not ended.",
  cooldown: "Its last run ended less than cooldown_secs ago.",
  max_concurrent_total: "As many runs as may be at a time (sop.max_concurrent_total) have not ended.",
  payload_too_large: "The payload is larger than 64 KiB, and a deterministic run needs all of it.",
  unsafe_arguments: "A step would put what comes from outside into a tool that acts; the log says which.",
};
