/** A run begins: decided and kept in one transaction, so that two events at the same instant are not both let in. */
import { randomBytes, randomUUIDv7 } from "node:crypto";
import type { Json } from "@svc/contract";
import type { SopRun } from "@svc/store";
import { shortened } from "../approvals/plain-text.ts";
import type { SopDefinition, SopTriggerEvent } from "../library/types.ts";
import { type Skip, skipReason } from "./admission.ts";
import type { After } from "./after-commit.ts";
import { unsafeStep } from "./call-rules.ts";
import type { RunDeps } from "./deps.ts";
import type { Starter } from "./types.ts";

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
  parts: RunDeps,
  definition: SopDefinition,
  event: SopTriggerEvent,
  starter: Starter,
  after: After,
  { isTest = false, retry }: RunOrigin = {},
): SopRun | Skip {
  const { store, clock, lines, publish, redact, wake } = parts;
  const known = starter.key === undefined ? undefined : store.sopRuns.byKey(starter.key);
  if (known) return known;
  if (definition.isDisabled && !isTest) return "disabled";
  // Who tests or retries has decided on the moment.
  const cooldownMs = isTest || retry ? 0 : definition.cooldownMs;
  const skip = skipOf(parts, { ...definition, cooldownMs }, event, after);
  if (skip) return skip;
  const run = store.sopRuns.add({
    id: `r-${randomUUIDv7()}`,
    sop: definition.name,
    definition: definition as unknown as Json,
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
