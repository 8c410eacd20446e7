/** What is known of a child agent, as it is stored and as it is shown. */
import type { AgentRights, ChildAgentStatus, ClientId, Json } from "@svc/contract";

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
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  status: ChildAgentStatus;
  /** Why it failed or was closed, for a person. */
  reason: string | undefined;
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
}

export interface AgentEvent {
  /** From 1. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: "status" | "prompt" | "text" | "thought" | "tool" | "plan" | "permission" | "other";
  readonly text: string;
}

/** What else is known while its process runs. */
export interface Liveness {
  readonly processAlive: boolean;
  readonly pumpAlive: boolean;
}

export function agentJson({ record, alive }: { readonly record: AgentRecord; readonly alive: Liveness }) {
  const { processAlive, pumpAlive } = alive;
  const { id, title, program, parent, depth, status, reason, pid, prompts, result, costUsd } = record;
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
    processAlive,
    pumpAlive,
    lastEventAt: new Date(record.lastEventAt).toISOString(),
    created_at: new Date(record.createdAt).toISOString(),
    pid: pid ?? null,
    prompts,
    result: result ?? null,
    result_cut: record.isResultCut,
    usage: { input_tokens: record.inputTokens, output_tokens: record.outputTokens, cost_usd: costUsd ?? null },
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
    };
  } catch {
    return undefined;
  }
}

export const recordText = (record: AgentRecord): string => JSON.stringify(record satisfies object as unknown as Json);
