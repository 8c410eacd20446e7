/** What the last process left behind is judged once, before anything new is written. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock, ErrorCode } from "@svc/contract";
import { isBusy, isDiskError } from "./sqlite-error.ts";

/** A message or delivery that the process did not survive so often is given up: it would take the service down for ever. */
export const MAX_CRASHES = 5;
const LOST: ErrorCode = "TURN_CRASHED";

export class Recovery {
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  /** Each transaction asks. */
  isDone = false;

  constructor(db: DatabaseSync, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    try {
      this.ensure();
    } catch (error) {
      // Reading goes on without it; whoever wants to write tries again.
      if (!isDiskError(error) && !isBusy(error)) throw error;
    }
  }

  /** Throws SQLite's errors. */
  ensure(): void {
    if (this.isDone) return;
    recover(this.#db, this.#clock.now());
    this.isDone = true;
  }
}

/**
 * A key whose turn never ended stays only if an acting tool had started in it. A message whose turn never ended, and a
 * delivery whose sending never did, count the attempt.
 */
function recover(db: DatabaseSync, nowMs: number): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    db.exec(`
      DELETE FROM idempotency WHERE state = 'running' AND NOT EXISTS
        (SELECT 1 FROM tool_calls WHERE tool_calls.turn_id = idempotency.turn_id AND acting = 1);
      UPDATE idempotency SET state = 'done' WHERE state = 'running';
      UPDATE tool_calls SET state = 'interrupted' WHERE state = 'started';
      UPDATE inbox_open SET attempts = attempts + 1, crashes = crashes + 1, begun = 0 WHERE begun = 1;
      UPDATE outbox_open SET attempts = attempts + 1, crashes = crashes + 1, begun = 0 WHERE begun = 1;`);
    endLost(db, nowMs);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function endLost(db: DatabaseSync, nowMs: number): void {
  const ended = db.prepare(
    `INSERT INTO inbox_ended (n, channel, state, attempts, error, ended_at)
     SELECT n, channel, 'failed', attempts, ?, ? FROM inbox_open JOIN inbox USING (n) WHERE crashes >= ${MAX_CRASHES}`,
  );
  if (Number(ended.run(LOST, nowMs).changes) === 0) return;
  db.exec(`
    INSERT INTO inbox_lost (n, draft, traceparent)
      SELECT n, draft, traceparent FROM inbox_open WHERE crashes >= ${MAX_CRASHES};
    DELETE FROM inbox_open WHERE crashes >= ${MAX_CRASHES};`);
}
