/** What runs are made with, and how their transactions end. */
import type { Clock, Conversation, Logger, SvcEvent } from "@svc/contract";
import type { Store } from "@svc/store";
import type { AuditLines } from "../audit.ts";
import type { Approvals, Pending } from "../approvals/types.ts";
import type { SopLibrary } from "../library/types.ts";
import type { StepWorker } from "./types.ts";

export interface SopSettings {
  readonly maxConcurrentTotal: number;
}

export interface RunDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly publish: (event: SvcEvent) => void;
  readonly library: SopLibrary;
  readonly approvals: Pick<Approvals, "requestIn" | "cancelIn" | "get">;
  readonly worker: StepWorker;
  readonly lines: AuditLines;
  /** As they are now. */
  readonly settings: () => SopSettings;
  /** Where a gate's question is posted. */
  readonly places: () => readonly Conversation[];
  /** Takes the configured secrets out of what people are shown, and of the audit log. */
  readonly redact: (text: string) => string;
  /** Takes a run up, if nobody is at it. */
  readonly wake: (runId: string) => void;
}

// What a transaction did is told to others only once it is on disk.

/** Notes what is to be done then. */
export type After = (tell: () => void) => void;

/** A change may run twice, when a neighbour in its transaction failed: what it noted the first time is forgotten with it. */
export function pendingOf<Result>(change: (after: After) => Result): Pending<Result> {
  const noted: (() => void)[] = [];
  const result = change((tell) => noted.push(tell));
  return {
    result,
    committed: () => {
      for (const tell of noted.splice(0)) tell();
    },
  };
}

/** Rejects with what `change` throws, and with STORE_*. */
export async function commit<Result>(store: Pick<Store, "write">, change: (after: After) => Result): Promise<Result> {
  const { result, committed } = await store.write(() => pendingOf(change));
  committed();
  return result;
}
