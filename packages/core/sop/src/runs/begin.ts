/** A run begins: decided and kept in one transaction, so that two events at the same instant are not both let in. */
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { type ErrorCode, type Json, SvcError } from "@svc/contract";
import type { SopRun } from "@svc/store";
import { shortened } from "../approvals/plain-text.ts";
import type { SopDefinition, SopStep, SopTriggerEvent } from "../library/types.ts";
import type { After, RunDeps } from "./deps.ts";
import type { Starter, StepWorker } from "./types.ts";
import { referencesIn } from "../library/args.ts";
import { asJson } from "@svc/kit";

/** A body may have a mebibyte; what a run keeps of it is read again with each step. */
export const MAX_PAYLOAD_CHARS = 65_536;

/** What is special about a run. */
export interface RunOrigin {
  readonly isTest?: boolean;
  /** It goes on from a step of an earlier run. */
  readonly retry?: { readonly of: string; readonly firstStep: number };
}

/** Inside a transaction. */
export function beginRun(
  deps: RunDeps,
  definition: SopDefinition,
  event: SopTriggerEvent,
  starter: Starter,
  after: After,
  { isTest = false, retry }: RunOrigin = {},
): SopRun | Skip {
  const { store, clock, lines, publish, redact, wake } = deps;
  const known = starter.key === undefined ? undefined : store.sopRuns.byKey(starter.key);
  if (known) return known;
  if (definition.isDisabled && !isTest) return "disabled";
  // Who tests or retries has decided on the moment.
  const cooldownMs = isTest || retry ? 0 : definition.cooldownMs;
  const skip = skipOf(deps, { ...definition, cooldownMs }, event, after);
  if (skip) return skip;
  const run = store.sopRuns.add({
    id: `r-${randomUUIDv7()}`,
    sop: definition.name,
    definition: asJson(definition),
    mode: definition.mode,
    source: event.source,
    topic: event.topic,
    payload: event.payload === null ? null : shortened(event.payload, MAX_PAYLOAD_CHARS),
    startedBy: redact(starter.by),
    startedByAgent: starter.agent,
    startedAtMs: clock.now(),
    key: starter.key,
    isTest,
    retryOf: retry?.of,
    firstStep: retry?.firstStep ?? 1,
    fence: randomBytes(16).toString("hex"),
  });
  lines.runStart(run, definition.version);
  after(() => {
    const { id: runId, sop, mode, startedBy } = run;
    publish({ type: "sop-run-start", runId, sop, mode, startedBy, ...testMark(run) });
    wake(runId);
  });
  return run;
}

/** On every event of a test run. */
export const testMark = ({ isTest }: Pick<SopRun, "isTest">): { readonly isTest?: true } => (isTest ? { isTest } : {});

function skipOf(
  { store, clock, settings, worker, log }: RunDeps,
  definition: SopDefinition,
  event: SopTriggerEvent,
  after: After,
): Skip | undefined {
  const { name, maxConcurrent, cooldownMs, mode } = definition;
  const { maxConcurrentTotal } = settings();
  const skip = skipReason({
    maxConcurrent,
    cooldownMs,
    maxConcurrentTotal,
    activeRuns: store.sopRuns.countActive(name),
    activeRunsTotal: store.sopRuns.countAllActive(maxConcurrentTotal),
    lastEndMs: store.sopRuns.lastEndMs(name),
    nowMs: clock.now(),
  });
  if (skip || mode !== "deterministic") return skip;
  // A part of it would be another value than the one that was sent.
  if ((event.payload?.length ?? 0) > MAX_PAYLOAD_CHARS) return "payload_too_large";
  const problem = unsafeStep(definition, worker);
  if (problem === undefined) return undefined;
  after(() => log.warn("a procedure is not started, because it would not be safe", { sop: name, problem }));
  return "unsafe_arguments";
}

// What may come from outside into a tool call that no model and no person looks at first. An argument that refers to the step's input
// stands for text of a stranger, or of a tool that read one.

type CallJudge = Pick<StepWorker, "acts" | "runsCommands">;

/** The first step that would be refused however the run goes, and why. */
function unsafeStep(definition: SopDefinition, worker: CallJudge): string | undefined {
  for (const step of definition.steps) {
    const problem = step.call && callProblem(step, definition.agent, step.call.args as Json, worker);
    if (problem !== undefined) return `Step ${step.number}: ${problem}`;
  }
  return undefined;
}

/** A sentence; undefined: it may be called. `input`: the arguments, as far as they are filled in. */
export function callProblem(
  { call, requiresConfirmation }: SopStep,
  agent: string | undefined,
  input: Json,
  worker: CallJudge,
): string | undefined {
  const places = call ? referencesIn(call.args) : [];
  if (!call || places.length === 0) return undefined;
  if (places.some((place) => place.includes("command")) || saysYes(() => worker.runsCommands(agent, call.tool))) {
    return `what comes from outside may not be part of a command, so ${call.tool} takes no references.`;
  }
  if (requiresConfirmation || call.trustedInput || !saysYes(() => worker.acts(agent, call.tool, input)))
    return undefined;
  return `${call.tool} acts on what comes from outside: the step needs requires_confirmation or trusted_input = true.`;
}

/** A tool that can't be asked, because its input is not there yet, is taken for one that does. One that is not there does not. */
function saysYes(ask: () => boolean): boolean {
  try {
    return ask();
  } catch (error) {
    return !(error instanceof SvcError && ABSENT.has(error.code));
  }
}

const ABSENT: ReadonlySet<string> = new Set(["TOOL_UNKNOWN", "TOOL_UNAVAILABLE", "AGENT_UNKNOWN"]);

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

type Skip =
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
