/** Runs of procedures and their steps: what began a run, how far it is, how it ended. */
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { PartOf } from "./types.ts";
import type { NewSopRun, SopRun, SopRunEnd, SopRunQuery, SopRunStatus, SopStepRow } from "./sop-types.ts";
import type { ErrorCode, Json } from "@svc/contract";
import { rowsOf } from "./rows.ts";

export type ActiveStatus = Exclude<SopRunStatus, SopRunEnd["status"]>;

export class SopRunStore {
  readonly steps: SopStepStore;
  readonly #db: DatabaseSync;
  readonly #partOf: PartOf;
  readonly #insertDefinition;
  readonly #insert;
  readonly #insertActive;
  readonly #read;
  readonly #has;
  readonly #byKey;
  readonly #active;
  readonly #newest;
  readonly #count;
  readonly #countAll;
  readonly #lastEnd;
  readonly #update;
  readonly #deleteActive;
  readonly #end;
  readonly #noteEnd;
  readonly #fence;
  readonly #strayTurns;

  constructor(db: DatabaseSync, partOf: PartOf) {
    this.#db = db;
    this.#partOf = partOf;
    this.steps = new SopStepStore(db);
    this.#insertDefinition = db.prepare("INSERT OR IGNORE INTO sop_definitions (digest, definition) VALUES (?, ?)");
    this.#insert = db.prepare(
      `INSERT INTO sop_runs
         (id, sop, definition, mode, source, topic, started_by, started_by_agent, key, fence, started_at, payload, traceparent,
          test, retry_of, first_step)
       VALUES (?, ?, (SELECT n FROM sop_definitions WHERE digest = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertActive = db.prepare("INSERT INTO sop_active VALUES (?, ?, 'pending', ?)");
    this.#read = db.prepare(`${selectRuns("r")} WHERE r.id = ?`);
    this.#has = db.prepare("SELECT 1 FROM sop_runs WHERE id = ?");
    this.#byKey = db.prepare(`${selectRuns("r")} WHERE r.key = ?`);
    this.#active = db.prepare("SELECT id, status FROM sop_active JOIN sop_runs USING (n) ORDER BY n");
    this.#newest = db.prepare(`${selectRuns("r")} WHERE r.sop = ? ORDER BY r.n DESC LIMIT 1`);
    this.#count = db.prepare("SELECT count(*) AS n FROM sop_active WHERE sop = ?");
    this.#countAll = db.prepare("SELECT count(*) AS n FROM (SELECT 1 FROM sop_active LIMIT ?)");
    this.#lastEnd = db.prepare("SELECT ended_at FROM sop_last_ends WHERE sop = ?");
    this.#update = db.prepare("UPDATE sop_active SET status = ?, step = ? WHERE n = ?");
    this.#deleteActive = db.prepare("DELETE FROM sop_active WHERE n = ? RETURNING sop, step");
    this.#end = db.prepare("INSERT INTO sop_ended VALUES (?, ?, ?, ?, ?, ?, ?)");
    // A test delays no real run.
    this.#noteEnd = db.prepare(
      `INSERT INTO sop_last_ends SELECT sop, ? FROM sop_runs WHERE n = ? AND test = 0
       ON CONFLICT (sop) DO UPDATE SET ended_at = excluded.ended_at`,
    );
    this.#fence = db.prepare("SELECT fence FROM sop_runs WHERE n = ?");
    // A name between `sop-` and `sop.` begins with `sop-`: the key's own order finds them.
    this.#strayTurns = db.prepare(
      `SELECT DISTINCT t.turn_id AS turnId, r.id AS runId FROM steps AS t
       JOIN sop_runs AS r ON r.id = substr(t.turn_id, 5, 38)
       WHERE t.turn_id >= 'sop-' AND t.turn_id < 'sop.' AND r.n NOT IN (SELECT n FROM sop_active)`,
    );
  }

  /** Inside a transaction: begins as `pending`, at its first step. */
  add(run: NewSopRun): SopRun {
    const { isTest = false, retryOf, firstStep = 1 } = run;
    const definition = JSON.stringify(run.definition);
    const digest = createHash("sha256").update(definition).digest("hex");
    this.#insertDefinition.run(digest, definition);
    const traceparent = this.#partOf();
    const { lastInsertRowid } = this.#insert.run(
      run.id,
      run.sop,
      digest,
      run.mode,
      run.source,
      run.topic,
      run.startedBy,
      run.startedByAgent ?? null,
      run.key ?? null,
      run.fence,
      run.startedAtMs,
      run.payload,
      traceparent ?? null,
      isTest ? 1 : 0,
      retryOf ?? null,
      firstStep,
    );
    const n = Number(lastInsertRowid);
    this.#insertActive.run(n, run.sop, firstStep);
    const { key: _, fence: __, ...stored } = run;
    const begun = {
      status: "pending",
      step: firstStep,
      endedAtMs: undefined,
      error: undefined,
      reason: undefined,
    } as const;
    return { ...stored, isTest, retryOf, firstStep, n, ...begun, traceparent };
  }

  read(id: string): SopRun | undefined {
    return found(this.#read.get(id));
  }

  has(id: string): boolean {
    return this.#has.get(id) !== undefined;
  }

  /** The one that this call began. */
  byKey(key: string): SopRun | undefined {
    return found(this.#byKey.get(key));
  }

  /** Those that have not ended, the oldest first. */
  active(): { readonly id: string; readonly status: ActiveStatus }[] {
    return this.#active.all() as { id: string; status: ActiveStatus }[];
  }

  newest(sop: string): SopRun | undefined {
    return found(this.#newest.get(sop));
  }

  /** Newest first. */
  list(query: SopRunQuery, limit: number): SopRun[] {
    return listRuns(this.#db, query, limit);
  }

  /** How many runs of it have not ended. */
  countActive(sop: string): number {
    return (this.#count.get(sop) as { n: number }).n;
  }

  /** How many have not ended, of all procedures; counts no further than `upTo`. */
  countAllActive(upTo: number): number {
    return (this.#countAll.get(upTo) as { n: number }).n;
  }

  /** When the run that ended last did. */
  lastEndMs(sop: string): number | undefined {
    return (this.#lastEnd.get(sop) as { ended_at: number } | undefined)?.ended_at;
  }

  /** Inside a transaction. False: the run has ended. */
  move(n: number, status: ActiveStatus, step: number): boolean {
    return Number(this.#update.run(status, step, n).changes) > 0;
  }

  /** Inside a transaction. False: it has ended before. */
  end(n: number, { status, error, reason }: SopRunEnd, atMs: number): boolean {
    const was = this.#deleteActive.get(n) as { sop: string; step: number } | undefined;
    if (!was) return false;
    this.#end.run(n, was.sop, status, was.step, atMs, error ?? null, reason ?? null);
    this.#noteEnd.run(atMs, n);
    return true;
  }

  /** What stands around text from outside in this run's prompts. Never shown: who knows it could close it. */
  fence(n: number): string {
    return (this.#fence.get(n) as { fence: string }).fence;
  }

  /** Turns of steps that were given up with their run, and are not tidied away. */
  strayTurns(): { readonly turnId: string; readonly runId: string }[] {
    return this.#strayTurns.all() as { turnId: string; runId: string }[];
  }
}

const found = (row: unknown): SopRun | undefined => (row === undefined ? undefined : runOf(row as RunRow));

/** A list of runs, newest first. It walks only what it lists: ten thousand that have ended stand in nobody's way. */
const ACTIVE: ReadonlySet<string> = new Set(["pending", "running", "waiting_approval"]);

function listRuns(db: DatabaseSync, query: SopRunQuery, limit: number): SopRun[] {
  const { sop, status, source, test, before = Number.MAX_SAFE_INTEGER } = query;
  const by = status === undefined ? "r" : ACTIVE.has(status) ? "a" : "e";
  const conditions = [
    `${by}.n < :before`,
    ...(sop === undefined ? [] : [`${by}.sop = :sop`]),
    ...(status === undefined ? [] : [`${by}.status = :status`]),
    ...(source === undefined ? [] : ["r.source = :source"]),
    ...(test === undefined ? [] : ["r.test = :test"]),
  ];
  const statement = db.prepare(
    `${selectRuns(by)} WHERE ${conditions.join(" AND ")} ORDER BY ${by}.n DESC LIMIT :limit`,
  );
  statement.setAllowUnknownNamedParameters(true);
  const values = { sop: sop ?? null, status: status ?? null, source: source ?? null, test: test === true ? 1 : 0 };
  return rowsOf<RunRow>(statement.all({ before, limit, ...values })).map(runOf);
}

/** The steps of runs: a row for each that was begun. */
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
    return rowsOf<StepRow>(this.#of.all(runN)).map((row) => ({
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

/** `r`, `a` and `e`: the run, how far it is, how it ended. What one reads by stands first: SQLite then walks only that. */
export const selectRuns = (by: "r" | "a" | "e"): string => {
  const tables = { r: "sop_runs AS r", a: "sop_active AS a", e: "sop_ended AS e" };
  const joins = { r: "JOIN sop_runs AS r USING (n)", a: "LEFT JOIN sop_active AS a USING (n)" };
  const end = "LEFT JOIN sop_ended AS e USING (n)";
  const others = { r: `${joins.a} ${end}`, a: `CROSS ${joins.r} ${end}`, e: `CROSS ${joins.r} ${joins.a}` };
  return `SELECT r.*, d.definition AS definition_json, coalesce(a.status, e.status) AS status,
      coalesce(a.step, e.step) AS step, e.ended_at, e.error, e.reason
    FROM ${tables[by]} ${others[by]} JOIN sop_definitions AS d ON d.n = r.definition`;
};

interface RunRow {
  n: number;
  id: string;
  sop: string;
  definition_json: string;
  mode: string;
  source: string;
  topic: string;
  payload: string | null;
  started_by: string;
  started_by_agent: string | null;
  started_at: number;
  status: SopRunStatus;
  step: number;
  ended_at: number | null;
  error: ErrorCode | null;
  reason: string | null;
  traceparent: string | null;
  test: number;
  retry_of: string | null;
  first_step: number;
}

const runOf = (row: RunRow): SopRun => ({
  n: row.n,
  id: row.id,
  sop: row.sop,
  definition: JSON.parse(row.definition_json) as Json,
  mode: row.mode,
  status: row.status,
  step: row.step,
  source: row.source,
  topic: row.topic,
  payload: row.payload,
  startedBy: row.started_by,
  startedByAgent: row.started_by_agent ?? undefined,
  startedAtMs: row.started_at,
  endedAtMs: row.ended_at ?? undefined,
  error: row.error ?? undefined,
  reason: row.reason ?? undefined,
  traceparent: row.traceparent ?? undefined,
  isTest: row.test === 1,
  retryOf: row.retry_of ?? undefined,
  firstStep: row.first_step,
});
