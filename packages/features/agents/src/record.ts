/** What is known of a child agent, as it is stored and as it is shown. */
import type { AgentRights, ChildAgentStatus, ClientId, ErrorCode, Json } from "@svc/contract";
import { type Budget, budgetJson, NOTHING_SPENT, type Spent, sumOf } from "./budget.ts";

/** The program that is svc's own agent. */
export const OWN = "svc";

/** What the names of rows begin with. */
export const ROW = "agent/";

/** One row of the store. It outlives the process of the child, and of the service. */
export interface AgentRecord {
  /** Of this form; older rows are read forward. */
  readonly version: 1;
  readonly id: string;
  readonly title: string;
  /** `svc`, or a name of `[agents_pool.programs]`. */
  readonly program: string;
  /** Child agent that made it. */
  readonly parent: string | undefined;
  /** Turn, or child agent, that it ends with; undefined: it is detached. */
  readonly endsWith: string | undefined;
  /** 1: made by a turn, a procedure or a person. */
  readonly depth: number;
  readonly rights: AgentRights;
  /** Whose tools may see it. */
  readonly owner: ClientId;
  readonly budget: Budget;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  status: ChildAgentStatus;
  /** Why it failed or was closed, for a person. */
  reason: string | undefined;
  /** Of an `error`: stable. */
  code: ErrorCode | undefined;
  pid: number | undefined;
  /** Milliseconds since the epoch. */
  lastEventAt: number;
  prompts: number;
  /** Answer to the last prompt that was answered. */
  result: string | undefined;
  isResultCut: boolean;
  inputTokens: number;
  outputTokens: number;
  /** US dollars; undefined: unknown. */
  costUsd: number | undefined;
  actions: number;
  /** By child agents that it made, and that those made. */
  spentBelow: Spent;
}

/** What counts against its budget. A program that reports no cost has none: its provider counts it. */
export const spentOf = ({ program, costUsd, inputTokens, outputTokens, actions, spentBelow }: AgentRecord): Spent =>
  sumOf(
    { costUsd: program === OWN ? costUsd : (costUsd ?? 0), tokens: inputTokens + outputTokens, actions },
    spentBelow,
  );

export interface AgentEvent {
  /** From 1, rising; with a gap where svc was restarted. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: "status" | "prompt" | "text" | "thought" | "tool" | "plan" | "permission" | "other";
  readonly text: string;
}

/** What the names of rows with events begin with. */
export const EVENTS_ROW = "events/";

const STORED_EVENTS = 100;
const STORED_CHARS = 400;
/** More than can be told between two writes: one prompt is ended at 64 MiB. */
const SEQ_GAP = 1_000_000;

/** The newest, shortened: what a person looks at after a restart. */
export const eventsText = (events: readonly AgentEvent[]): string =>
  JSON.stringify(events.slice(-STORED_EVENTS).map((event) => ({ ...event, text: event.text.slice(0, STORED_CHARS) })));

/** What is left of an earlier process's events. Empty for what is no row of ours. */
export function eventsIn(text: string): AgentEvent[] {
  try {
    const found = JSON.parse(text) as AgentEvent[];
    return found.every(({ seq, text }) => Number.isSafeInteger(seq) && typeof text === "string") ? found : [];
  } catch {
    return [];
  }
}

/** The next number: none that an earlier process may have told without writing it. */
export const seqAfter = (events: readonly AgentEvent[]): number => {
  const last = events.at(-1);
  return last === undefined ? 1 : last.seq + SEQ_GAP;
};

/** What else is known while its process runs. */
export interface Liveness {
  readonly processAlive: boolean;
  readonly pumpAlive: boolean;
}

export function agentJson({ record, alive }: { readonly record: AgentRecord; readonly alive: Liveness }) {
  const { processAlive, pumpAlive } = alive;
  const { id, title, program, parent, depth, status, reason, code, pid, prompts, result, costUsd, actions } = record;
  const spent = spentOf(record);
  return {
    id,
    title,
    program,
    agent: record.rights.agent,
    parent: parent ?? null,
    detached: record.endsWith === undefined,
    depth,
    status,
    reason: reason ?? null,
    code: code ?? null,
    processAlive,
    pumpAlive,
    lastEventAt: new Date(record.lastEventAt).toISOString(),
    created_at: new Date(record.createdAt).toISOString(),
    pid: pid ?? null,
    prompts,
    result: result ?? null,
    result_cut: record.isResultCut,
    usage: {
      input_tokens: record.inputTokens,
      output_tokens: record.outputTokens,
      cost_usd: costUsd ?? null,
      actions,
    },
    spent: { cost_usd: spent.costUsd ?? null, tokens: spent.tokens, actions: spent.actions },
    budget: budgetJson(record.budget),
  };
}
export type AgentJson = ReturnType<typeof agentJson>;

export const eventJson = ({ seq, at, kind, text }: AgentEvent) => ({ seq, at: new Date(at).toISOString(), kind, text });

/** undefined: no row of ours, or of a newer svc. */
export function recordIn(text: string): AgentRecord | undefined {
  try {
    const found = JSON.parse(text) as Partial<AgentRecord> | null;
    if (found?.version !== 1 || typeof found.id !== "string" || typeof found.status !== "string") return undefined;
    return {
      ...(found as AgentRecord),
      parent: found.parent,
      endsWith: found.endsWith,
      reason: found.reason,
      pid: found.pid,
      result: found.result,
      costUsd: found.costUsd,
      code: found.code,
      // Rows of before there were budgets.
      budget: found.budget ?? {},
      actions: found.actions ?? 0,
      spentBelow: { ...NOTHING_SPENT, ...found.spentBelow, costUsd: found.spentBelow ? found.spentBelow.costUsd : 0 },
    };
  } catch {
    return undefined;
  }
}

export const recordText = (record: AgentRecord): string => JSON.stringify(record satisfies object as unknown as Json);
