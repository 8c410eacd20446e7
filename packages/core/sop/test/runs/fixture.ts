/** Runs as a process has them: a store on disk, the real approvals, an agent that does what a test says. */
import { join } from "node:path";
import { type ClientId, type Conversation, type Json, type SvcEvent } from "@svc/contract";
import { currentScope } from "@svc/runtime";
import { openStore, type SopRun, type Store } from "@svc/store";
import { type CapturedLogger, captureLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock, settled } from "@svc/testkit/fake-clock";
import { temporaryHome } from "@svc/testkit/temporary-home";
import {
  type ApprovalRegistry,
  type CallStepWork,
  createApprovals,
  createSops,
  type SopDefinition,
  type SopEngine,
  type SopLibrary,
  type SopStep,
  type StepWorker,
  type TurnStepWork,
} from "../../src/index.ts";
import type { FireCron } from "../../src/triggers/cron-schedule.ts";
import { indexTriggers } from "../../src/triggers/match.ts";

export const step = (number: number, more: Partial<SopStep> = {}): SopStep => ({
  number,
  title: `Step ${number}`,
  body: `Do part ${number}.`,
  kind: "execute",
  requiresConfirmation: false,
  tools: [],
  ...more,
});

/** Calls the tool `act`, which acts. */
export const calling = (number: number, args: { readonly [name: string]: unknown } = {}, more: Partial<SopStep> = {}) =>
  step(number, { call: { tool: "act", args, trustedInput: true }, ...more });

export const sop = (name: string, more: Partial<SopDefinition> = {}): SopDefinition => ({
  name,
  description: "",
  version: "1",
  priority: "normal",
  mode: "auto",
  cooldownMs: 0,
  maxConcurrent: 1,
  agent: undefined,
  triggers: [
    { type: "manual", condition: undefined },
    { type: "webhook", path: `/${name}`, condition: undefined },
  ],
  steps: [step(1), step(2)],
  instructions: "",
  ...more,
});

export const webhook = (name: string, payload: string | null = null) =>
  ({ source: "webhook", topic: `/${name}`, payload }) as const;

export const STARTER = { by: "a test" };

/** What the agent does with a step. */
export interface Doing {
  readonly turn?: (step: TurnStepWork) => Promise<string> | string;
  readonly call?: (step: CallStepWork) => Promise<Json> | Json;
  /** Default: all but `read`. */
  readonly acts?: (tool: string) => boolean;
  /** Ends of turns are not kept with the run's. */
  readonly keepsAlone?: boolean;
}

export interface FixtureOptions extends Doing {
  readonly sops: readonly SopDefinition[];
  readonly maxConcurrentTotal?: number;
  /** Folder of an earlier fixture, whose database is gone on with. */
  readonly folder?: string;
  readonly clock?: FakeClock;
  readonly wrap?: (store: Store) => Store;
  readonly places?: readonly Conversation[];
  readonly redact?: (text: string) => string;
  /** Not yet started. */
  readonly idle?: boolean;
}

export interface Fixture extends Disposable {
  readonly folder: string;
  readonly clock: FakeClock;
  readonly log: CapturedLogger;
  readonly store: Store;
  readonly sops: SopEngine;
  readonly approvals: ApprovalRegistry;
  readonly events: SvcEvent[];
  readonly turns: TurnStepWork[];
  readonly calls: CallStepWork[];
  readonly abandoned: string[];
  /** What the procedures are from here on. */
  define(...sops: SopDefinition[]): void;
  /** Cron triggers that were dealt with. */
  readonly noted: readonly string[];
  /** A cron trigger is due. */
  due(sop: string, expression: string): Promise<void>;
  start(name: string, payload?: string | null): Promise<string>;
  run(id: string): SopRun;
  /** Says yes or no to whatever waits; tells how many waited. */
  answerAll(approved?: boolean, feedback?: string): Promise<number>;
}

export function fixture(options: FixtureOptions): Fixture {
  const { clock = fakeClock(), redact = (text) => text, wrap = (opened) => opened } = options;
  const home = options.folder === undefined ? temporaryHome() : undefined;
  const folder = options.folder ?? home!.path;
  const opened = openStore({
    file: join(folder, "svc.db"),
    clock,
    idempotency: { ttlMs: 1000, maxKeys: 10 },
    traceparent: () => currentScope().traceparent,
  });
  const store = wrap(opened);
  const log = captureLogger();
  const events: SvcEvent[] = [];
  const publish = (event: SvcEvent) => ({ id: `e-${events.push(event)}` });
  const fake = worker(store, options);
  const library = libraryOf(options.sops);
  const cron: { fire: FireCron } = { fire: () => Promise.reject(new Error("not started")) };
  const noted: string[] = [];
  const approvals: ApprovalRegistry = createApprovals({
    store,
    clock,
    log,
    publish,
    settings: () => ({ approvers: [], maxChars: 4_000 }),
    expireMs: () => 86_400_000,
    redact,
    wake: () => {},
    onRequested: (approval) => sops.onRequested(approval),
    onSettled: (approval) => sops.onSettled(approval),
  });
  const sops: SopEngine = createSops({
    store,
    clock,
    log,
    publish,
    library,
    approvals,
    worker: fake.worker,
    cron: { start: (fire) => void (cron.fire = fire), stop: () => {}, nextAtMs: () => undefined },
    settings: () => ({ maxConcurrentTotal: options.maxConcurrentTotal ?? 100 }),
    places: () => options.places ?? [],
    redact,
  });
  if (!options.idle) {
    approvals.start();
    sops.start();
  }
  return {
    folder,
    clock,
    log,
    store,
    sops,
    approvals,
    events,
    ...fake,
    define: (...definitions) => library.define(definitions),
    noted,
    due: (name, expression) =>
      cron.fire({
        sop: name,
        expression,
        timezone: undefined,
        dueMs: clock.now(),
        noteIn: () => void noted.push(name),
      }),
    async start(name, payload = null) {
      const { runs } = await sops.dispatch(webhook(name, payload), STARTER);
      return runs[0]!.runId;
    },
    run: (id) => store.sopRuns.read(id)!,
    async answerAll(approved = true, feedback) {
      const { approvals: waiting } = approvals.list({ status: "waiting" }, 100);
      const answer = { approved, by: "a person", via: "cli" as const, ...(feedback !== undefined && { feedback }) };
      for (const one of waiting) await approvals.resolve(one, answer);
      return waiting.length;
    },
    [Symbol.dispose]() {
      approvals.stop();
      void sops.stop(0);
      opened.close();
      home?.remove();
    },
  };
}

/** Keeps the end of a turn, and a call's beginning and end, as the agent does. */
function worker(store: Store, doing: Doing) {
  const { turn = ({ turnId }) => `did ${turnId.slice(-1)}`, call = () => "called", keepsAlone = false } = doing;
  const { acts = (tool) => tool !== "read" } = doing;
  const turns: TurnStepWork[] = [];
  const calls: CallStepWork[] = [];
  const abandoned: string[] = [];
  const made: StepWorker = {
    async turn(work) {
      turns.push(work);
      const response = await turn(work);
      work.signal.throwIfAborted();
      if (!keepsAlone) await store.write(() => work.inTransaction(response));
      return { response };
    },
    async call(work) {
      const { turnId, callId, tool, input } = work;
      calls.push(work);
      await store.write(() =>
        store.toolCalls.start({ turnId, callId, agent: "a", client: "c" as ClientId, tool, acting: acts(tool), input }),
      );
      try {
        work.signal.throwIfAborted();
        const output = await call(work);
        await store.write(() => store.toolCalls.finish(turnId, callId, "finished", output));
        return { ok: true, output };
      } catch (error) {
        const state = work.signal.aborted ? "interrupted" : "failed";
        const output = state === "failed" ? String(error) : null;
        await store.write(() => store.toolCalls.finish(turnId, callId, state, output));
        if (state === "interrupted") throw work.signal.reason;
        return { ok: false, output };
      }
    },
    acts: (_, tool) => acts(tool),
    runsCommands: (_, tool) => tool === "shell",
    async abandon({ turnId }) {
      abandoned.push(turnId);
      await store.write(() => store.steps.drop(turnId));
    },
  };
  return { worker: made, turns, calls, abandoned };
}

function libraryOf(first: readonly SopDefinition[]): SopLibrary & { define(sops: readonly SopDefinition[]): void } {
  let sops = new Map<string, SopDefinition>();
  let index = indexTriggers([]);
  const define = (definitions: readonly SopDefinition[]): void => {
    sops = new Map(definitions.map((one) => [one.name, one]));
    index = indexTriggers(definitions);
  };
  define(first);
  const loaded = (definition: SopDefinition) => ({ definition, problem: undefined });
  return {
    define,
    list: () => [...sops.values()].map(loaded),
    get: (name) => (sops.has(name) ? loaded(sops.get(name)!) : undefined),
    broken: () => [],
    matching: (event) => index.matching(event),
    hasPath: (path) => index.hasPath(path),
    crons: () => index.crons(),
    reload: async () => {},
    exclusively: (act) => act(),
    onChange: () => {},
    watch: () => {},
    stop: () => {},
  };
}

/** All that follows from what was done has happened, as far as it needs no time. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await settled();
}
