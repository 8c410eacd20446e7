/**
 * Which conversation the files of sent messages belong to. Those of a message that waits go with it into the next conversation of
 * the name.
 */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";

export class SessionFiles {
  readonly #rename;
  readonly #disown;
  readonly #disownAll;

  constructor(db: DatabaseSync) {
    const those = `turn_id IS NOT NULL AND session_owner = ? AND session = ?
      AND turn_id NOT IN (SELECT turn_id FROM open_turns)`;
    const disown = "UPDATE uploads SET session_owner = NULL, session = NULL WHERE";
    this.#rename = db.prepare(`UPDATE uploads SET session = ? WHERE ${those}`);
    this.#disown = db.prepare(`${disown} ${those}`);
    this.#disownAll = db.prepare(
      `${disown} turn_id IS NOT NULL AND (session_owner, session) IN (SELECT client_id, name FROM sessions WHERE id = ?)
         AND turn_id NOT IN (SELECT turn_id FROM open_turns)`,
    );
  }

  /** Inside the transaction that gives the conversation another name. */
  rename(owner: ClientId, from: string, to: string): void {
    this.#rename.run(to, owner, from);
  }

  /** Inside the transaction that removes the conversation: its files can be read by no other, and are removed next. */
  disown(owner: ClientId, name: string): void {
    this.#disown.run(owner, name);
  }

  /** The same by the conversation's id, while its row is there. */
  disownAll(id: string): void {
    this.#disownAll.run(id);
  }
}
