/** Conversations and turns as the database has them, and as others see them. */
import type { ClientId, Json } from "@svc/contract";
import type { OpenTurn, SessionSummary, SessionUsage, StoredTurn, TurnMeta, TurnState } from "../types.ts";

export interface UsageRow extends Omit<SessionUsage, "costUsd"> {
  readonly costUsd: number | null;
}

export interface SessionRow {
  n: number;
  id: string;
  client_id: string;
  name: string;
  created_at: number;
  updated_at: number;
  turns: number;
  last_turn: number;
  title: string;
  titled_by: "words" | "model" | "person";
  preview: string;
  turns_read: number;
  pinned_at: number | null;
  archived_at: number | null;
  first_turn: number;
  listed_turn: number;
}

export interface TurnRow {
  n: number;
  session: number;
  previous: number | null;
  id: string;
  at: number;
  model: string;
  messages: string;
  tokens: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
  state: TurnState;
  replaced: number;
  meta: string | null;
}

export function sessionOf(row: SessionRow): SessionSummary {
  return {
    id: row.id,
    clientId: row.client_id as ClientId,
    name: row.name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    turns: row.turns,
    title: row.title,
    titledBy: row.titled_by,
    preview: row.preview,
    unread: Math.max(0, row.turns - row.turns_read),
    isPinned: row.pinned_at !== null,
    isArchived: row.archived_at !== null,
    newestTurn: row.last_turn,
  };
}

export function turnOf(row: TurnRow): StoredTurn {
  return {
    id: row.id,
    at: row.at,
    model: row.model,
    messages: JSON.parse(row.messages) as Json,
    tokens: row.tokens,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd ?? undefined,
    state: row.state,
    replaced: row.replaced === 1,
    ...(row.meta !== null && { meta: JSON.parse(row.meta) as TurnMeta }),
  };
}

export interface OpenTurnRow {
  readonly turn_id: string;
  readonly owner: string;
  readonly name: string;
  readonly session_id: string;
  readonly agent: string;
  readonly at: number;
  readonly text: string;
  readonly meta: string | null;
  readonly step: number | null;
  readonly partial: string | null;
}

export function openTurnOf(row: OpenTurnRow): OpenTurn {
  return {
    turnId: row.turn_id,
    owner: row.owner as ClientId,
    name: row.name,
    sessionId: row.session_id,
    agent: row.agent,
    at: row.at,
    text: row.text,
    meta: row.meta === null ? undefined : (JSON.parse(row.meta) as TurnMeta),
    partial: row.partial === null ? undefined : { step: row.step!, text: row.partial },
  };
}
