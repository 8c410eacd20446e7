/**
 * Approvals and runs of a database that no service works on. What is answered or ended here is kept: the rest, and what the
 * channels are told, come with the next start.
 */
import { type Conversation, DEFAULT_MAX_CHARS, type Json, type Logger, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import {
  type Approvals,
  createApprovals,
  createSops,
  cronMarks,
  type SopLibrary,
  type Sops,
  type StepWorker,
} from "@svc/sop";
import { createCronSchedule } from "@svc/sop/cron-schedule";
import type { Approval, Store } from "@svc/store";

export interface OfflineEngineDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly redact: (text: string) => string;
  readonly library: SopLibrary;
  readonly rules: OfflineRules;
  /** Keeps a rule that a yes for always makes. Default: there is no such yes. */
  readonly keepRule?: (rule: Json, answered: Approval) => Promise<void>;
}

/** Of a config. */
export interface OfflineRules {
  readonly approversOf: (channel: string) => readonly string[];
  /** Where the questions of gates are posted. */
  readonly places: () => readonly Conversation[];
  readonly expireMs: number;
  readonly maxConcurrentTotal: number;
}

export interface OfflineEngine {
  readonly approvals: Approvals;
  readonly sops: Sops;
}

export function offlineEngine({ store, log, redact, library, rules, keepRule }: OfflineEngineDeps): OfflineEngine {
  const shared = { store, clock: systemClock, log, redact };
  const approvals = createApprovals({
    ...shared,
    // Nobody listens to a process that is gone in a moment.
    publish: () => ({ id: "none-0" }),
    settings: (channel) => ({ approvers: rules.approversOf(channel), maxChars: DEFAULT_MAX_CHARS }),
    expireMs: () => rules.expireMs,
    ...(keepRule && { keepRule }),
    wake: () => {},
    onRequested: (approval) => sops.onRequested(approval),
    onSettled: (approval) => sops.onSettled(approval),
  });
  const sops = createSops({
    ...shared,
    publish: () => {},
    library,
    approvals,
    worker: NOBODY,
    cron: createCronSchedule({ clock: systemClock, log, marks: cronMarks(store), library }),
    settings: () => ({ maxConcurrentTotal: rules.maxConcurrentTotal }),
    places: rules.places,
  });
  return { approvals, sops };
}

const refuse = (): never => {
  throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
};
const NOBODY: StepWorker = {
  turn: async () => refuse(),
  call: async () => refuse(),
  acts: refuse,
  runsCommands: refuse,
  abandon: async () => refuse(),
};
