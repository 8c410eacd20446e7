/** What runs are made with. */
import type { Clock, Conversation, Logger, SvcEvent } from "@svc/contract";
import type { Store } from "@svc/store";
import type { AuditLines } from "../audit/audit-lines.ts";
import type { Approvals } from "../approvals/types.ts";
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
