/** All that the store keeps of messages, and what of it stands in memory until a transaction is on disk. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "@svc/contract";
import type { CommitHooks } from "../group-commit.ts";
import type { PartOf } from "../part-of.ts";
import { Dedupe } from "./dedupe.ts";
import { InboxStore } from "./inbox.ts";
import { OutboxStore } from "./outbox.ts";
import { StepStore } from "./steps.ts";
import { Tally } from "./tally.ts";

export class MessageStores {
  readonly inbox: InboxStore;
  readonly outbox: OutboxStore;
  readonly steps: StepStore;
  readonly dedupe: Dedupe;
  readonly hooks: Required<Pick<CommitHooks, "beforeCommit" | "afterCommit" | "onRollback">>;

  constructor(db: DatabaseSync, clock: Clock, partOf: PartOf) {
    const tally = new Tally(db);
    const dedupe = new Dedupe(db);
    this.dedupe = dedupe;
    this.outbox = new OutboxStore(db, clock, tally, partOf);
    this.inbox = new InboxStore(db, clock, { dedupe, tally, outbox: this.outbox, partOf });
    this.steps = new StepStore(db);
    this.hooks = {
      beforeCommit: () => {
        dedupe.seen.flush();
        tally.flush();
      },
      afterCommit: () => dedupe.seen.settle(),
      onRollback: () => {
        dedupe.seen.discard();
        tally.discard();
      },
    };
  }
}
