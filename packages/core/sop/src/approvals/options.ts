/** What approvals are made with. */
import type { ApprovalEvent, Clock, Json, Logger } from "@svc/contract";
import type { Approval, Delivery, Store } from "@svc/store";
import type { OnRequested, OnSettled } from "./types.ts";

export interface ApprovalOptions {
  readonly store: Pick<Store, "approvals" | "grants" | "outbox" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after the commit. Returns the event with its id. */
  readonly publish: (event: ApprovalEvent) => { readonly id: string };
  /** Of a channel, as it is in force now; also of one that is gone. */
  readonly settings: (channel: string) => ChannelAnswers;
  /** `approvals.expire_secs`, as it is in force now. */
  readonly expireMs: () => number;
  /** Takes the configured secrets out of what is kept, and shown to many. */
  readonly redact: (text: string) => string;
  /** Called after the commit that added these rows to the outbox. */
  readonly wake: (deliveries: readonly Delivery[]) => void;
  /** Puts a rule into force that outlives the conversation. Called after the commit of the yes. Default: none can be kept. */
  readonly keepRule?: (rule: Json, answered: Approval) => Promise<void>;
  readonly onRequested?: OnRequested;
  readonly onSettled?: OnSettled;
}

export interface ChannelAnswers {
  /** Who may answer there. */
  readonly approvers: readonly string[];
  /** Longest text of one message there. */
  readonly maxChars: number;
}
