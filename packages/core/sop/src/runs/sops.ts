/** Procedures and their runs, put together. */
import { auditLines, createAuditLog } from "../audit.ts";
import type { ApprovalKey, OnRequested, OnSettled } from "../approvals/types.ts";
import type { CronSchedule, DueCron } from "../triggers/cron-schedule.ts";
import { type After, type RunDeps, commit, pendingOf } from "./deps.ts";
import { detailOf, dispatchIn, pageOfRuns, runByName, runUnknown, sopNamed, startIn, summaryOf } from "./dispatch.ts";
import { type Drive, abandon, drive, questionOf } from "./drive.ts";
import type { SopRunDetail, SopRunPage, SopSample, SopSummary, Sops, Starter } from "./types.ts";
import { type Clock, type Json, SvcError, postponed } from "@svc/contract";
import type { ActiveStatus, Approval, SopRun } from "@svc/store";
import type { BrokenSop, SopDefinition, SopTriggerEvent } from "../library/types.ts";
import { conditionHolds, topicOf } from "../triggers/match.ts";
import { beginRun, refusalOf } from "./begin.ts";
import { gateId, interruptedId, stepOf, stepTurnId } from "./definition.ts";
import { cancelRun, completeStep, enterStep, runStep } from "./transitions.ts";
import { Ongoing, inScope } from "@svc/runtime";
import { asJson, jsonAs } from "@svc/kit";

/** `approvals` are made with the hooks of what comes back here. */
export interface SopsOptions extends Omit<RunDeps, "lines" | "wake"> {
  readonly cron: CronSchedule;
}

export interface SopEngine extends Sops {
  /** For `createApprovals`. */
  readonly onSettled: OnSettled;
  readonly onRequested: OnRequested;
}

export function createSops(options: SopsOptions): SopEngine {
  const { store, clock, library, cron, redact } = options;
  const audit = createAuditLog({ store, redact });
  const lines = auditLines(audit);
  const shown = shownWithout(redact);
  const deps: RunDeps = { ...options, lines, wake: (runId) => drivers.wake(runId) };
  const drivers = new Drivers({
    clock,
    drive: (one) => drive(deps, one),
    afterCancel: (runId) => abandon(deps, runId),
  });
  const dispatch: Sops["dispatch"] = async (event, starter) => {
    const { result, committed } = await store.write(() => dispatchIn(deps, event, starter));
    committed();
    return result;
  };
  return {
    audit,
    hasPath: (path) => library.hasPath(path),
    fits: (event) => library.matching(event).length > 0,
    dispatch,
    dispatchIn: (event, starter) => dispatchIn(deps, event, starter),
    run: (name, payload, starter) => runByName(deps, name, payload, starter),
    test: (name, sample, starter) => testRun(deps, name, sample, starter),
    retry: async (id, step, starter) => {
      const { retryRun } = await import("./retry.ts");
      return retryRun(deps, id, step, starter);
    },
    async calendar(days, sop) {
      const { calendarOf } = await import("../triggers/cron-schedule.ts");
      return calendarOf({ library, cron, nowMs: clock.now(), days, sop });
    },
    list: () => library.list().map((loaded) => shown.summary(summaryOf(deps, cron, loaded))),
    broken: () => library.broken().map(shown.broken),
    show: (name) => shown.summary(summaryOf(deps, cron, sopNamed(library, name))),
    runs: (filter, limit) => shown.page(pageOfRuns(deps, filter, limit)),
    hasRun: (id) => store.sopRuns.has(id),
    readRun: (id) => shown.detail(detailOf(deps, id)),
    async cancel(id, by) {
      const run = await cancelByPerson(deps, id, by);
      drivers.cancel(id, "The run was cancelled.");
      return run;
    },
    reload: () => library.reload(),
    start() {
      drivers.start();
      void takeUp(deps);
      library.onChange(() => options.publish({ type: "sop-change" }));
      library.watch();
      cron.start((due) => fire(deps, due));
    },
    async stop(graceMs) {
      cron.stop();
      library.stop();
      await drivers.stop(graceMs);
    },
    onSettled(approval) {
      return pendingOf((after) => {
        lines.approvalAnswer(approval);
        settleIn(deps, approval, after);
      }).committed;
    },
    onRequested: (approval) => lines.approvalRequest(approval),
  };
}

/** Rejects with STORE_*: then it is due still. */
async function fire(deps: RunDeps, { sop, expression, noteIn }: DueCron): Promise<void> {
  const { library, store, log } = deps;
  const event = { source: "cron", topic: expression, payload: null } as const;
  const starter = { by: `cron ${expression}` };
  // By name: two procedures may have the same expression in two time zones.
  const definitions = library.matching(event).filter(({ name }) => name === sop);
  const { result, committed } = await store.write(() => {
    noteIn();
    return startIn(deps, definitions, event, starter);
  });
  committed();
  for (const { reason } of result.skipped) log.info("a procedure was due and did not start", { sop, reason });
}

// A run that a person starts to try a procedure out, with an event that they make up.

/** Throws SOP_UNKNOWN, SOP_INVALID, SOP_NOT_TRIGGERED, SOP_BUSY, TOO_LARGE, STORE_*. */
async function testRun(deps: RunDeps, name: string, sample: SopSample, starter: Starter): Promise<SopRun> {
  const { definition } = sopNamed(deps.library, name);
  const event = sampleEvent(definition, sample);
  const begun = await commit(deps.store, (after) =>
    beginRun(deps, definition, event, starter, after, { isTest: true }),
  );
  if (typeof begun === "string") throw refusalOf(begun);
  return begun;
}

function sampleEvent({ name, triggers }: SopDefinition, { trigger: index, payload }: SopSample): SopTriggerEvent {
  if (index === undefined) return { source: "manual", topic: name, payload };
  const trigger = triggers[index];
  if (!trigger) {
    throw new SvcError("SOP_NOT_TRIGGERED", `This procedure has no trigger ${index + 1}.`, {
      hint: `It has ${triggers.length}. See: svc sop show`,
    });
  }
  if (!conditionHolds(trigger.condition, payload)) {
    throw new SvcError("SOP_NOT_TRIGGERED", "The payload does not meet the condition of this trigger.", {
      hint: "Change the payload, or the condition in SOP.toml.",
    });
  }
  return { source: trigger.type, topic: topicOf(trigger, name), payload };
}

/** Procedures and runs as people see them: without the configured secrets that somebody has written, or sent, into them. */
interface Shown {
  summary(summary: SopSummary): SopSummary;
  broken(broken: BrokenSop): BrokenSop;
  page(page: SopRunPage): SopRunPage;
  detail(detail: SopRunDetail): SopRunDetail;
}

/** What runs work with stays as it is. */
function shownWithout(redact: (text: string) => string): Shown {
  const deep = (value: Json): Json => {
    if (typeof value === "string") return redact(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(deep);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner)]));
  };
  /** Nearly none has one, and a list may be of thousands. */
  const whole = (value: Json): Json => {
    const text = JSON.stringify(value);
    return redact(text) === text ? value : deep(value);
  };
  const run = (shown: SopRun): SopRun => ({
    ...shown,
    definition: whole(shown.definition),
    topic: redact(shown.topic),
    payload: shown.payload === null ? null : redact(shown.payload),
  });
  return {
    summary: ({ definition, problem, lastRun, ...rest }) => ({
      ...rest,
      definition: jsonAs<SopDefinition>(whole(asJson(definition))),
      problem: problem && redact(problem),
      lastRun: lastRun && run(lastRun),
    }),
    broken: ({ name, problem }) => ({ name, problem: redact(problem) }),
    page: ({ runs, next }) => ({ runs: runs.map(run), next }),
    detail: ({ run: one, steps }) => ({ run: run(one), steps }),
  };
}

// A person ends a run, in whatever state it is.

/** Resolves once it is on disk. Throws SOP_RUN_UNKNOWN, SOP_RUN_ENDED, STORE_*. */
async function cancelByPerson(deps: RunDeps, id: string, by: string): Promise<SopRun> {
  const { store, approvals } = deps;
  const cancelled = await commit(store, (after) => {
    const run = store.sopRuns.read(id);
    // Thrown in here, it would undo what others do in the same transaction.
    if (run?.endedAtMs !== undefined) return "ended";
    if (!run) return undefined;
    const reason = `Cancelled by ${by}.`;
    // First the run: the end of its question finds nothing to cancel any more.
    cancelRun(deps, run, { reason }, after);
    for (const key of [...gatesOf(deps, run), ...callsOf(deps, run)]) {
      const closed = approvals.cancelIn(key, `run ${id} was cancelled by ${by}`);
      if (closed) after(closed.committed);
    }
    return store.sopRuns.read(id);
  });
  if (cancelled === "ended") throw new SvcError("SOP_RUN_ENDED", undefined, { hint: "How it ended: svc sop show" });
  if (!cancelled) throw runUnknown();
  return cancelled;
}

const gatesOf = (deps: RunDeps, { id, step }: SopRun): ApprovalKey[] =>
  [gateId(step), interruptedId(step)].flatMap((stepId) => questionOf(deps, id, stepId) ?? []);

/**
 * The calls of its step that wait for a person. Whoever is at the run calls them off too, but nobody may be: a yes to a call
 * that is never made would be believed.
 */
const callsOf = ({ store }: RunDeps, { id, step }: SopRun): ApprovalKey[] =>
  store.approvals
    .list({ status: "waiting", runId: stepTurnId(id, step) }, MOST_CALLS)
    .filter(({ origin }) => origin === "tool");

/** Of one step at a time. */
const MOST_CALLS = 100;

/** The runs that somebody is at, each once. */
interface Driver {
  readonly controller: AbortController;
  /** Something changed while it ran: it looks again before it ends. */
  again: boolean;
}

/** After a shutdown's patience is over: what was called off gets so long to note it. */
const LAST_WORDS_MS = 2_000;

interface DriversOptions {
  readonly clock: Clock;
  /** Takes a run as far as it goes. Never rejects. */
  readonly drive: (drive: Drive) => Promise<void>;
  /** Of one that was cancelled under it. Never rejects. */
  readonly afterCancel: (runId: string) => Promise<void>;
}

export class Drivers {
  readonly #options: DriversOptions;
  readonly #drivers = new Map<string, Driver>();
  readonly #ongoing = new Ongoing();
  readonly #stopping = new AbortController();
  #isStarted = false;

  constructor(options: DriversOptions) {
    this.#options = options;
  }

  /** From here on runs are taken up. */
  start(): void {
    this.#isStarted = true;
  }

  wake(runId: string): void {
    if (!this.#isStarted || this.#stopping.signal.aborted) return;
    const driver = this.#drivers.get(runId);
    if (driver) driver.again = true;
    // A run outlives whoever has started it, or said yes to its next step.
    else void inScope({}, () => this.#ongoing.during(() => this.#run(runId)));
  }

  /** Its end is on disk: what still runs of it is called off. */
  cancel(runId: string, why: string): void {
    this.#drivers.get(runId)?.controller.abort(new SvcError("TURN_CANCELLED", why));
  }

  /** Begins nothing more. What runs has `graceMs` to end, and is called off then. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const { clock } = this.#options;
    const late = Promise.withResolvers<void>();
    const cancels = [clock.after(graceMs, () => this.#callOff()), clock.after(graceMs + LAST_WORDS_MS, late.resolve)];
    await Promise.race([this.#ongoing.idle(), late.promise]);
    for (const cancel of cancels) cancel();
    this.#callOff();
  }

  #callOff(): void {
    for (const { controller } of this.#drivers.values()) controller.abort(postponed());
  }

  async #run(runId: string): Promise<void> {
    const driver: Driver = { controller: new AbortController(), again: true };
    this.#drivers.set(runId, driver);
    const { signal } = driver.controller;
    const stopping = this.#stopping.signal;
    while (driver.again && !stopping.aborted) {
      driver.again = false;
      await this.#options.drive({ runId, signal, stopping });
    }
    if (signal.aborted && !stopping.aborted) await this.#options.afterCancel(runId);
    this.#drivers.delete(runId);
  }
}

// What the last process left: each run goes on from the state that the disk has.

/** Never rejects. */
async function takeUp(deps: RunDeps): Promise<void> {
  const { store, log } = deps;
  try {
    // Before anything runs: what runs now and is cancelled is tidied away by whoever is at it.
    const strays = store.sopRuns.strayTurns();
    for (const { id, status } of store.sopRuns.active()) await takeUpRun(deps, id, status);
    for (const { runId, turnId } of strays) await abandon(deps, runId, turnId);
  } catch (error) {
    log.error("the runs of the last process could not be looked at", { error: String(error) });
  }
}

async function takeUpRun(deps: RunDeps, id: string, status: ActiveStatus): Promise<void> {
  if (status !== "waiting_approval") return deps.wake(id);
  try {
    await checkQuestion(deps, id);
  } catch (error) {
    deps.log.error("a run that waits could not be looked at", { run: id, error: String(error) });
  }
}

/**
 * A question and the state of its run change together, so one of them alone is not to be found, unless a database was put
 * together by hand. A run must not wait for what nobody was asked, nor for what was answered.
 */
async function checkQuestion(deps: RunDeps, id: string): Promise<void> {
  const { store } = deps;
  const asked = ({ step }: { readonly step: number }) =>
    questionOf(deps, id, interruptedId(step)) ?? questionOf(deps, id, gateId(step));
  const before = store.sopRuns.read(id);
  if (before && asked(before)?.status === "waiting") return;
  await commit(store, (after) => {
    const run = store.sopRuns.read(id);
    if (run?.status !== "waiting_approval") return;
    const approval = asked(run);
    if (approval === undefined) enterStep(deps, run, run.step, after);
    else settleIn(deps, approval, after);
  });
}

// A question of a run has its end: inside the transaction in which it got it, the run goes on or is over.

/** Does nothing for a run that has ended, or waits for something else. */
function settleIn(deps: RunDeps, approval: Approval, after: After): void {
  const { status, runId, stepId } = approval;
  if (approval.origin !== "sop" || status === "waiting") return;
  const run = deps.store.sopRuns.read(runId);
  if (run?.status !== "waiting_approval" || !isAbout(run, stepId)) return;
  if (status === "approved") goOn(deps, run, stepId, after);
  else cancelRun(deps, run, endOf(approval), after);
  after(() => {
    if (status === "expired") {
      deps.log.warn("no answer in time; run cancelled", { run: runId, sop: run.sop });
    }
    deps.wake(runId);
  });
}

const isAbout = ({ step }: SopRun, stepId: string): boolean =>
  stepId === gateId(step) || stepId === interruptedId(step);

function goOn(deps: RunDeps, run: SopRun, stepId: string, after: After): void {
  const isDone = stepId === interruptedId(run.step) || stepOf(run, run.step)?.kind === "checkpoint";
  if (isDone) completeStep(deps, run, null, after);
  else runStep(deps, run, run.step, after);
}

function endOf({ status, answer }: Approval) {
  if (status === "expired") {
    return { error: "APPROVAL_EXPIRED", reason: "The approval request was not answered in time." } as const;
  }
  if (status === "cancelled") return { reason: "The approval request was called off." };
  const by = answer?.by ?? "somebody";
  return { reason: answer?.feedback ? `Rejected by ${by}: ${answer.feedback}` : `Rejected by ${by}.` };
}
