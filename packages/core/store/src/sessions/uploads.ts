/** Files that come with messages: uploaded first, then sent with one. Their bytes are elsewhere. */
import type { DatabaseSync } from "node:sqlite";
import { type ClientId, SvcError } from "@svc/contract";
import type { SentFile } from "../types.ts";
import { rowsOf } from "../rows.ts";

/** A file that no message was sent with yet. */
export interface Upload {
  readonly id: string;
  /** The client that uploaded it, and that alone may send it. */
  readonly owner: ClientId;
  readonly name: string;
  /** As its bytes say. */
  readonly type: string;
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The conversation and the turn of a message. */
export interface UploadTarget {
  readonly owner: ClientId;
  readonly name: string;
  readonly turnId: string;
}

export class UploadStore {
  readonly #insert;
  readonly #unsent;
  readonly #countUnsent;
  readonly #send;
  readonly #sent;
  readonly #expired;
  readonly #orphans;
  readonly #delete;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare("INSERT INTO uploads (id, owner, name, type, size, at) VALUES (?, ?, ?, ?, ?, ?)");
    const unsent = "SELECT id, owner, name, type, size, at FROM uploads WHERE turn_id IS NULL";
    this.#unsent = db.prepare(`${unsent} AND id = ?`);
    this.#countUnsent = db.prepare("SELECT count(*) AS count FROM uploads WHERE turn_id IS NULL AND owner = ?");
    this.#send = db.prepare(
      `UPDATE uploads SET session_owner = ?, session = ?, turn_id = ?, agent = ?, path = ?
       WHERE id = ? AND turn_id IS NULL`,
    );
    const sent = "SELECT id, name, type, size, agent, path FROM uploads AS u WHERE turn_id IS NOT NULL";
    this.#sent = db.prepare(`${sent} AND id = ? AND session_owner = ? AND session = ?`);
    this.#expired = db.prepare(`${unsent} AND at < ? LIMIT ?`);
    this.#orphans = db.prepare(
      `${sent} AND NOT EXISTS (SELECT 1 FROM sessions AS s WHERE s.client_id = u.session_owner AND s.name = u.session)
       AND NOT EXISTS (SELECT 1 FROM open_turns AS o WHERE o.turn_id = u.turn_id) LIMIT ?`,
    );
    this.#delete = db.prepare("DELETE FROM uploads WHERE id = ?");
  }

  /** Inside a transaction. */
  add({ id, owner, name, type, size, at }: Upload): void {
    this.#insert.run(id, owner, name, type, size, at);
  }

  /** Undefined: there is none, or a message was sent with it. */
  unsent(id: string): Upload | undefined {
    return this.#unsent.get(id) as Upload | undefined;
  }

  /** How many of a client no message was sent with. */
  countUnsent(owner: ClientId): number {
    return (this.#countUnsent.get(owner) as { count: number }).count;
  }

  /** Inside the transaction that stores the message. Throws FILE_UNKNOWN when another message was sent with one of them. */
  send(files: readonly SentFile[], { owner, name, turnId }: UploadTarget): void {
    for (const { id, agent, path } of files) {
      if (Number(this.#send.run(owner, name, turnId, agent, path, id).changes) === 0)
        throw new SvcError("FILE_UNKNOWN");
    }
  }

  /** A file of the conversation. */
  sent(id: string, owner: ClientId, name: string): SentFile | undefined {
    return this.#sent.get(id, owner, name) as SentFile | undefined;
  }

  /** Unsent ones that were uploaded before `beforeMs`, at most `limit`. */
  expired(beforeMs: number, limit: number): Upload[] {
    return rowsOf<Upload>(this.#expired.all(beforeMs, limit));
  }

  /** Those whose conversation is gone, at most `limit`. */
  orphans(limit: number): SentFile[] {
    return rowsOf<SentFile>(this.#orphans.all(limit));
  }

  /** Inside a transaction. */
  remove(ids: readonly string[]): void {
    for (const id of ids) this.#delete.run(id);
  }
}
