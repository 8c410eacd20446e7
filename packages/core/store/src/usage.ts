/** What was used: sums per day, agent, model and channel. They outlive the conversations they were made of. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import type { ChannelUsage, ClientUsage, TurnUsage, UsageTotals } from "./types.ts";
import { rowsOf } from "./rows.ts";

export class UsageStore {
  /** Of the open transaction, by day, agent, model and channel: one row is written per group commit, not per turn. */
  readonly #pending = new Map<string, Sums>();
  /** The same by day, agent and client. */
  readonly #pendingClients = new Map<string, ClientSum>();
  readonly #add;
  readonly #addClient;
  readonly #spent;
  readonly #spentByClient;
  readonly #clients;
  readonly #dropClients;
  readonly #since;
  readonly #byChannel;

  constructor(db: DatabaseSync) {
    this.#add = db.prepare(
      `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (day, agent, model, channel) DO UPDATE SET
         turns = turns + excluded.turns,
         input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens,
         cost_usd = cost_usd + excluded.cost_usd,
         estimated_usd = estimated_usd + excluded.estimated_usd,
         unknown_cost_turns = unknown_cost_turns + excluded.unknown_cost_turns`,
    );
    this.#spent = db.prepare("SELECT total(cost_usd + estimated_usd) AS spent FROM usage WHERE day = ? AND agent = ?");
    this.#addClient = db.prepare(
      `INSERT INTO client_usage VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (day, agent, client) DO UPDATE SET spent_usd = spent_usd + excluded.spent_usd`,
    );
    this.#spentByClient = db.prepare(
      "SELECT total(spent_usd) AS spent FROM client_usage WHERE day = ? AND agent = ? AND client = ?",
    );
    this.#clients = db.prepare(
      "SELECT * FROM client_usage WHERE day = ? ORDER BY agent, spent_usd DESC, client LIMIT ?",
    );
    this.#dropClients = db.prepare(
      `DELETE FROM client_usage WHERE (day, agent, client) IN
         (SELECT day, agent, client FROM client_usage WHERE day < ? LIMIT ?)`,
    );
    this.#since = db.prepare(
      `SELECT day, agent, model, sum(turns) AS turns, sum(input_tokens) AS input_tokens,
         sum(output_tokens) AS output_tokens, total(cost_usd) AS cost_usd, sum(unknown_cost_turns) AS unknown_cost_turns
       FROM usage WHERE day >= ? GROUP BY day, agent, model ORDER BY day, agent, model`,
    );
    this.#byChannel = db.prepare("SELECT * FROM usage WHERE day >= ? ORDER BY day, agent, model, channel");
  }

  /** Inside a transaction: adds one turn, or a part of one. */
  add({ day, agent, model, channel = "", client, turns = 1, costUsd, estimatedUsd, ...tokens }: TurnUsage): void {
    if (client !== undefined) this.#addOf({ day, agent, client, channel, spentUsd: costUsd ?? estimatedUsd ?? 0 });
    const { inputTokens, outputTokens } = tokens;
    const key = `${day}\n${agent}\n${model}\n${channel}`;
    let sums = this.#pending.get(key);
    if (!sums) this.#pending.set(key, (sums = { ...NOTHING, day, agent, model, channel }));
    sums.turns += turns;
    sums.inputTokens += inputTokens;
    sums.outputTokens += outputTokens;
    if (costUsd === undefined) sums.unknownCostTurns += turns;
    sums.costUsd += costUsd ?? 0;
    sums.estimatedUsd += costUsd === undefined ? (estimatedUsd ?? 0) : 0;
  }

  /** US dollars that count against a limit, estimates included; what is not on disk yet is not in it. */
  spentUsd(day: string, agent: string): number {
    return (this.#spent.get(day, agent) as { spent: number }).spent;
  }

  #addOf(sum: ClientSum): void {
    if (sum.spentUsd === 0) return;
    const key = `${sum.day}\n${sum.agent}\n${sum.client}`;
    const earlier = this.#pendingClients.get(key);
    this.#pendingClients.set(key, earlier ? { ...earlier, spentUsd: earlier.spentUsd + sum.spentUsd } : sum);
  }

  /** The same of one client alone. */
  spentByClientUsd(day: string, agent: string, client: ClientId): number {
    return (this.#spentByClient.get(day, agent, client) as { spent: number }).spent;
  }

  /** Who spent what on a day: by agent, the most first. */
  clients(day: string, limit: number): ClientUsage[] {
    const rows = rowsOf<Omit<ClientUsage, "spentUsd"> & { spent_usd: number }>(this.#clients.all(day, limit));
    return rows.map(({ agent, client, channel, spent_usd: spentUsd }) => ({ agent, client, channel, spentUsd }));
  }

  /** Inside a transaction: drops what clients spent before this day. Returns how many lines, at most `limit`. */
  dropClients(beforeDay: string, limit: number): number {
    return Number(this.#dropClients.run(beforeDay, limit).changes);
  }

  /** From this day on, in order. */
  list(sinceDay: string): UsageTotals[] {
    return rowsOf<UsageRow>(this.#since.all(sinceDay)).map(totalsOf);
  }

  /** The same, apart by channel. */
  listByChannel(sinceDay: string): ChannelUsage[] {
    const rows = rowsOf<UsageRow & { channel: string }>(this.#byChannel.all(sinceDay));
    return rows.map((row) => ({ ...totalsOf(row), channel: row.channel }));
  }

  /** Before a commit: writes the sums of its transaction. */
  flush(): void {
    for (const sums of this.#pending.values()) {
      const { day, agent, model, channel, turns, inputTokens, outputTokens } = sums;
      const { costUsd, estimatedUsd, unknownCostTurns } = sums;
      const key = [day, agent, model, channel] as const;
      this.#add.run(...key, turns, inputTokens, outputTokens, costUsd, estimatedUsd, unknownCostTurns);
    }
    for (const { day, agent, client, channel, spentUsd } of this.#pendingClients.values()) {
      this.#addClient.run(day, agent, client, channel, spentUsd);
    }
    this.discard();
  }

  /** The transaction was undone, or its sums are written. */
  discard(): void {
    this.#pending.clear();
    this.#pendingClients.clear();
  }
}

interface ClientSum extends ClientUsage {
  readonly day: string;
}

type Sums = { -readonly [Key in keyof ChannelUsage]: ChannelUsage[Key] } & { estimatedUsd: number };

const NOTHING = { turns: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, estimatedUsd: 0, unknownCostTurns: 0 };

interface UsageRow {
  day: string;
  agent: string;
  model: string;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  unknown_cost_turns: number;
}

function totalsOf(row: UsageRow): UsageTotals {
  return {
    day: row.day,
    agent: row.agent,
    model: row.model,
    turns: row.turns,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd,
    unknownCostTurns: row.unknown_cost_turns,
  };
}
