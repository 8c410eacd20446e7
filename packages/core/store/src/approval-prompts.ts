/** Where approvals were asked: in a conversation, by a row of the outbox, and in the one that was opened for it there. */
import type { DatabaseSync } from "node:sqlite";
import type { Conversation } from "@svc/contract";
import type { PromptRow } from "./approval-row.ts";

export class ApprovalPrompts {
  readonly #insert;
  readonly #setOpened;
  readonly #close;
  readonly #of;
  readonly #openIn;
  readonly #drop;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      "INSERT INTO approval_prompts (delivery, approval, channel, chat, thread) VALUES (?, ?, ?, ?, ?)",
    );
    this.#setOpened = db.prepare(
      "UPDATE approval_prompts SET opened_chat = ?, opened_thread = ? WHERE delivery = ? AND channel = ?",
    );
    this.#close = db.prepare("UPDATE approval_prompts SET is_open = 0 WHERE approval = ?");
    this.#of = db.prepare(
      `SELECT delivery, channel, chat, thread, opened_chat, opened_thread FROM approval_prompts
       WHERE approval = ? ORDER BY delivery`,
    );
    this.#openIn = db.prepare(
      `SELECT approval AS n FROM approval_prompts WHERE is_open = 1 AND channel = ?1 AND chat = ?2 AND thread IS ?3
       UNION SELECT approval FROM approval_prompts
       WHERE is_open = 1 AND channel = ?1 AND opened_chat = ?2 AND opened_thread IS ?3 ORDER BY n LIMIT ?4`,
    );
    this.#drop = db.prepare("DELETE FROM approval_prompts WHERE approval = ?");
  }

  /** Inside a transaction. */
  add(approval: number, { channel, id, thread }: Conversation, delivery: number): void {
    this.#insert.run(delivery, approval, channel, id, thread ?? null);
  }

  /** Inside a transaction. One on another channel is none. Tells whether the row of the outbox asks a question. */
  setOpened(delivery: number, { channel, id, thread }: Conversation): boolean {
    return Number(this.#setOpened.run(id, thread ?? null, delivery, channel).changes) > 0;
  }

  /** Inside a transaction: nothing answers it any more. */
  close(approval: number): void {
    this.#close.run(approval);
  }

  of(approval: number): PromptRow[] {
    return this.#of.all(approval) as unknown as PromptRow[];
  }

  /** The first of the approvals that are open in this conversation, ascending. */
  openIn({ channel, id, thread }: Conversation, limit: number): number[] {
    return (this.#openIn.all(channel, id, thread ?? null, limit) as { n: number }[]).map(({ n }) => n);
  }

  /** Inside a transaction. */
  drop(approval: number): void {
    this.#drop.run(approval);
  }
}
