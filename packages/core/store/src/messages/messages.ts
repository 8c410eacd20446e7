/** All that the store keeps of messages, and what of it stands in memory until a transaction is on disk. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock, Json } from "@svc/contract";
import type { CommitHooks } from "../engine/group-commit.ts";
import type { PartOf } from "../types.ts";
import { Dedupe } from "./dedupe.ts";
import { InboxStore } from "./inbox.ts";
import { OutboxStore } from "./outbox.ts";
import { Tally } from "./box.ts";
import type { TurnStep } from "../message-types.ts";
import { rowsOf } from "../rows.ts";

export class MessageStores {
  readonly inbox: InboxStore;
  readonly outbox: OutboxStore;
  readonly steps: StepStore;
  readonly dedupe: Dedupe;
  /** Whether the open transaction has something for the hooks: most turns add nothing that they would write. */
  hasChanges = false;
  readonly hooks: Required<Pick<CommitHooks, "beforeCommit" | "afterCommit" | "onRollback">>;

  constructor(db: DatabaseSync, clock: Clock, partOf: PartOf) {
    const changed = (): void => void (this.hasChanges = true);
    const tally = new Tally(db, changed);
    const dedupe = new Dedupe(db, changed);
    this.dedupe = dedupe;
    this.outbox = new OutboxStore(db, clock, tally, partOf);
    this.inbox = new InboxStore(db, clock, { dedupe, tally, outbox: this.outbox, partOf });
    this.steps = new StepStore(db);
    this.hooks = {
      beforeCommit: () => {
        dedupe.seen.flush();
        tally.flush();
      },
      afterCommit: () => {
        this.hasChanges = false;
        dedupe.seen.settle();
      },
      onRollback: () => {
        this.hasChanges = false;
        dedupe.seen.discard();
        tally.discard();
      },
    };
  }
}

/** The steps of turns that have not ended: what a turn needs that is taken up again after a kill. */
export class StepStore {
  readonly #insert;
  readonly #of;
  readonly #drop;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      "INSERT INTO steps VALUES (?1, (SELECT coalesce(max(n), 0) + 1 FROM steps WHERE turn_id = ?1), ?2, ?3, ?4)",
    );
    this.#of = db.prepare("SELECT message, input_tokens, output_tokens FROM steps WHERE turn_id = ? ORDER BY n");
    this.#drop = db.prepare("DELETE FROM steps WHERE turn_id = ?");
  }

  /** Inside a transaction: the next step of the turn. */
  add(turnId: string, { message, inputTokens, outputTokens }: TurnStep): void {
    this.#insert.run(turnId, inputTokens, outputTokens, JSON.stringify(message));
  }

  /** In their order. */
  of(turnId: string): TurnStep[] {
    return rowsOf<StepRow>(this.#of.all(turnId)).map((row) => ({
      message: JSON.parse(row.message) as Json,
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
    }));
  }

  /** Inside the transaction that ends the turn. */
  drop(turnId: string): void {
    this.#drop.run(turnId);
  }
}

interface StepRow {
  message: string;
  input_tokens: number;
  output_tokens: number;
}
