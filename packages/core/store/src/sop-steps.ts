/** The steps of runs: a row for each that was begun. */
import type { DatabaseSync } from "node:sqlite";
import type { Json } from "@svc/contract";
import type { SopStepRow } from "./sop-types.ts";

export class SopStepStore {
  readonly #set;
  readonly #end;
  readonly #of;
  readonly #output;
  readonly #take;

  constructor(db: DatabaseSync) {
    this.#set = db.prepare(
      `INSERT INTO sop_steps (run_n, step, status, started_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (run_n, step) DO UPDATE SET status = excluded.status`,
    );
    this.#end = db.prepare("UPDATE sop_steps SET status = ?, ended_at = ?, output = ? WHERE run_n = ? AND step = ?");
    this.#of = db.prepare("SELECT * FROM sop_steps WHERE run_n = ? ORDER BY step");
    this.#take = db.prepare(
      `INSERT INTO sop_steps SELECT ?, step, status, started_at, ended_at, output FROM sop_steps
       WHERE run_n = ? AND step < ? AND status = 'completed'`,
    );
    this.#output = db.prepare("SELECT output FROM sop_steps WHERE run_n = ? AND step = ? AND status = 'completed'");
  }

  /** Inside a transaction: the finished steps before `firstStep` of another run are this one's too. */
  takeOver(fromN: number, runN: number, firstStep: number): void {
    this.#take.run(runN, fromN, firstStep);
  }

  /** Inside a transaction: it runs, or waits. When it was begun stays what it was. */
  set(runN: number, step: number, status: "running" | "waiting_approval", atMs: number): void {
    this.#set.run(runN, step, status, atMs);
  }

  /** Inside a transaction. */
  end(runN: number, step: number, end: Pick<SopStepRow, "status" | "output">, atMs: number): void {
    this.#end.run(end.status, atMs, JSON.stringify(end.output), runN, step);
  }

  /** What a step that is done has given; undefined: it is not done. */
  output(runN: number, step: number): Json | undefined {
    const row = this.#output.get(runN, step) as Pick<StepRow, "output"> | undefined;
    return row && outputOf(row);
  }

  /** In their order. */
  of(runN: number): SopStepRow[] {
    return (this.#of.all(runN) as unknown as StepRow[]).map((row) => ({
      runN: row.run_n,
      step: row.step,
      status: row.status,
      startedAtMs: row.started_at,
      endedAtMs: row.ended_at ?? undefined,
      output: outputOf(row),
    }));
  }
}

const outputOf = ({ output }: Pick<StepRow, "output">): Json => (output === null ? null : (JSON.parse(output) as Json));

interface StepRow {
  run_n: number;
  step: number;
  status: SopStepRow["status"];
  started_at: number;
  ended_at: number | null;
  output: string | null;
}
