/**
 * Approvals and runs of a database that no service works on. What is answered or ended here is kept: the rest, and what the
 * channels are told, come with the next start.
 */
import { type Conversation, DEFAULT_MAX_CHARS, type Json, type Logger, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { createLogger } from "@svc/runtime";
import {
  type Approvals,
  createApprovals,
  createLibrary,
  createSops,
  cronMarks,
  type SopLibrary,
  type Sops,
  type StepWorker,
} from "@svc/sop";
import { createCronSchedule } from "@svc/sop/cron-schedule";
import { type Approval, openStore, type Store } from "@svc/store";

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

/** For a person: in the run, in the audit log, and where it had asked. */
const BY = "a restore, since nobody knows what it has done after the backup";

/**
 * For a database that comes out of a backup: its runs may have gone on since, and a step that is done twice is worse than one that
 * is not. Ends those that are under way, and forgets up to when the times of schedules are dealt with: none that has been since the
 * backup comes again. Resolves with how many runs it were. For a file that is sound and that nobody has open. Throws STORE_*.
 */
export async function setAsideRuns(file: string): Promise<number> {
  const store = openStore({ file, clock: systemClock, idempotency: { ttlMs: 0, maxKeys: 1 } });
  try {
    const log = createLogger({ level: "error", write: () => {}, json: true, clock: systemClock });
    const library = createLibrary({
      log,
      clock: systemClock,
      folder: () => "",
      defaultMode: () => "supervised",
      reserved: () => [],
    });
    const rules = { approversOf: () => [], places: () => [], expireMs: 0, maxConcurrentTotal: 0 };
    const { sops } = offlineEngine({ store, log, redact: (text) => text, library, rules });
    const active = store.sopRuns.active();
    for (const { id } of active) await sops.cancel(id, BY);
    const marks = cronMarks(store);
    await marks.write(() => marks.keys().forEach((key) => marks.noteIn(key, undefined)));
    return active.length;
  } finally {
    store.close();
  }
}
