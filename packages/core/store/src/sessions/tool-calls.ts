/** The journal of tool calls: a call is on disk before it starts, so a crash can tell what may have happened. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId, Clock, Json } from "@svc/contract";
import { rowsOf } from "../rows.ts";

export interface ToolCallRecord {
  readonly turnId: string;
  readonly callId: string;
  /** Whose call it is. */
  readonly agent: string;
  /** Client whose limits it counts against. */
  readonly client: ClientId;
  readonly tool: string;
  /** Whether it acts on the world. */
  readonly acting: boolean;
  readonly input: Json;
}

/** A call as the journal knows it. */
export interface JournalledCall {
  readonly callId: string;
  readonly tool: string;
  readonly acting: boolean;
  /** `asked`: a person was asked, and it has not started. `interrupted`: it started, and nobody knows how it ended. */
  readonly state: "asked" | "started" | "finished" | "failed" | "interrupted";
  /** What the model was told: its result, or why it failed. Null while there is none. */
  readonly output: Json;
}

export class ToolCallStore {
  readonly #clock: Clock;
  readonly #ask;
  readonly #start;
  readonly #finish;
  readonly #states;
  readonly #of;
  readonly #actions;
  readonly #clientActions;
  readonly #anyFinished;

  constructor(db: DatabaseSync, clock: Clock) {
    this.#clock = clock;
    this.#ask = db.prepare("INSERT OR IGNORE INTO tool_calls VALUES (?, ?, ?, 0, ?, 'asked', NULL, ?, NULL, ?, ?)");
    // OR REPLACE: one that was asked about, or a reading one that was interrupted and whose turn is taken up.
    this.#start = db.prepare(
      "INSERT OR REPLACE INTO tool_calls VALUES (?, ?, ?, ?, ?, 'started', NULL, ?, NULL, ?, ?)",
    );
    this.#finish = db.prepare(
      "UPDATE tool_calls SET state = ?, output = ?, ended_at = ? WHERE turn_id = ? AND call_id = ?",
    );
    this.#states = db.prepare("SELECT call_id, tool, state FROM tool_calls WHERE turn_id = ? ORDER BY started_at");
    this.#of = db.prepare("SELECT call_id, tool, acting, state, output FROM tool_calls WHERE turn_id = ?");
    this.#actions = db.prepare(
      "SELECT started_at FROM tool_calls WHERE started_at > ? AND agent = ? AND acting = 1 ORDER BY started_at",
    );
    this.#clientActions = db.prepare(
      `SELECT started_at FROM tool_calls WHERE started_at > ? AND agent = ? AND client = ? AND acting = 1
       ORDER BY started_at`,
    );
    this.#anyFinished = db.prepare("SELECT 1 FROM tool_calls WHERE state = 'finished' LIMIT 1");
  }

  /** Whether any call has ever succeeded, as far as it is still kept. */
  anyFinished(): boolean {
    return this.#anyFinished.get() !== undefined;
  }

  /**
   * Inside a transaction: a person is asked whether it may run. From here on no other call of the turn may have its id, or a
   * yes to this one would be taken for that one's. It does not act before it starts.
   */
  ask({ turnId, callId, tool, input, agent, client }: Omit<ToolCallRecord, "acting">): void {
    this.#ask.run(turnId, callId, tool, JSON.stringify(input), this.#clock.now(), agent, client);
  }

  /** Inside a transaction. */
  start(call: ToolCallRecord): void {
    this.#start.run(
      call.turnId,
      call.callId,
      call.tool,
      call.acting ? 1 : 0,
      JSON.stringify(call.input),
      this.#clock.now(),
      call.agent,
      call.client,
    );
  }

  /** Inside a transaction. */
  finish(turnId: string, callId: string, state: "finished" | "failed" | "interrupted", output: Json): void {
    this.#finish.run(state, JSON.stringify(output), this.#clock.now(), turnId, callId);
  }

  /** The calls of one turn, in no order. */
  of(turnId: string): JournalledCall[] {
    return rowsOf<JournalRow>(this.#of.all(turnId)).map(({ call_id: callId, tool, acting, state, output }) => ({
      callId,
      tool,
      acting: acting === 1,
      state,
      output: output === null ? null : (JSON.parse(output) as Json),
    }));
  }

  /**
   * When this agent's acting calls after `sinceMs` started, oldest first. Milliseconds since the epoch. `client`: only those
   * that count against its limits.
   */
  actionsSince(agent: string, sinceMs: number, client?: ClientId): number[] {
    const rows =
      client === undefined ? this.#actions.all(sinceMs, agent) : this.#clientActions.all(sinceMs, agent, client);
    return (rows as { started_at: number }[]).map((row) => row.started_at);
  }

  /** `interrupted`: by the end of the process, or called off. */
  statesOf(turnId: string): { callId: string; tool: string; state: string }[] {
    return (this.#states.all(turnId) as { call_id: string; tool: string; state: string }[]).map((row) => ({
      callId: row.call_id,
      tool: row.tool,
      state: row.state,
    }));
  }
}

interface JournalRow {
  call_id: string;
  tool: string;
  acting: number;
  state: JournalledCall["state"];
  output: string | null;
}
