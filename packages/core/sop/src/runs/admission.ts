/** Whether a run may begin: as few at a time, and as long after the last, as the procedure says. */
import { type ErrorCode, SvcError } from "@svc/contract";

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

export type Skip =
  | "disabled"
  | "max_concurrent"
  | "cooldown"
  | "max_concurrent_total"
  | "payload_too_large"
  | "unsafe_arguments";

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

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

/** Of what would be the same again the code says so. */
const REFUSALS: Readonly<Record<Skip, Refusal>> = {
  disabled: {
    code: "SOP_DISABLED",
    message: "This procedure is disabled, so nothing starts it.",
    hint: "Enable it with: svc sop enable. A test run needs no enabling: svc sop test",
  },
  max_concurrent: {
    code: "SOP_BUSY",
    message: "As many of its runs as may be at a time (max_concurrent) have not ended.",
    hint: "See what they wait for: svc sop runs, svc approvals list",
  },
  cooldown: {
    code: "SOP_BUSY",
    message: "Its last run ended less than cooldown_secs ago.",
    hint: "Try again later, or make cooldown_secs in its SOP.toml smaller.",
  },
  max_concurrent_total: {
    code: "SOP_BUSY",
    message: "As many runs as may be at a time (sop.max_concurrent_total) have not ended.",
    hint: "See what they wait for: svc sop runs, svc approvals list. More may be allowed in config.toml.",
  },
  payload_too_large: {
    code: "TOO_LARGE",
    message: "The payload is larger than 64 KiB, and a deterministic run needs all of it.",
    hint: "Hand over what names it, e.g. an id, and let a tool fetch the rest.",
  },
  unsafe_arguments: {
    code: "SOP_INVALID",
    message: "A step would put what comes from outside into a tool that acts; the log says which.",
    hint: "Write requires_confirmation = true, or trusted_input = true, to that step of its SOP.toml.",
  },
};

export function refusalOf(skip: Skip): SvcError {
  const { code, message, hint } = REFUSALS[skip];
  return new SvcError(code, message, { hint });
}
