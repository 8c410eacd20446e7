/** A delivery as the database has it, and as others see it. */
import type { DeliveryUpdate, Json } from "@svc/contract";
import type { Delivery, KeptFile, OutboxState } from "../message-types.ts";
import type { BoxRow, BoxShape } from "./box.ts";

export const OUTBOX: BoxShape = {
  table: "outbox",
  well: "sent",
  text: "text",
  columns: `m.delivery_id, m.chat, m.thread, m.turn_id, m.key, m.created_at, m.files, m.reply_data, m.text, m.approval,
    m.draft, m.traceparent, coalesce(o.not_before, 0) AS not_before, e.platform_id, e.platform_status, e.platform_reason`,
};

export const UNTRIED = {
  state: "waiting",
  attempts: 0,
  notBeforeMs: 0,
  endedAtMs: undefined,
  platformId: undefined,
  platformStatus: undefined,
  platformReason: undefined,
  error: undefined,
} as const;

export interface OutboxRow extends BoxRow {
  delivery_id: string;
  chat: string;
  thread: string | null;
  turn_id: string | null;
  key: string | null;
  created_at: number;
  files: string;
  reply_data: string | null;
  text: string;
  approval: number | null;
  draft: string | null;
  traceparent: string | null;
  not_before: number;
  platform_id: string | null;
  platform_status: DeliveryUpdate["status"] | null;
  platform_reason: string | null;
}

export const deliveryOf = (row: OutboxRow): Delivery => ({
  n: row.n,
  deliveryId: row.delivery_id,
  conversation: { channel: row.channel, id: row.chat, ...(row.thread !== null && { thread: row.thread }) },
  lane: row.lane,
  text: row.text,
  files: JSON.parse(row.files) as KeptFile[],
  ...(row.reply_data !== null && { replyData: JSON.parse(row.reply_data) as Json }),
  ...(row.turn_id !== null && { turnId: row.turn_id }),
  ...(row.key !== null && { key: row.key }),
  ...(row.approval !== null && { approval: row.approval }),
  ...(row.draft !== null && { draft: row.draft }),
  state: row.state as OutboxState,
  attempts: row.attempts,
  notBeforeMs: row.not_before,
  createdAtMs: row.created_at,
  endedAtMs: row.ended_at ?? undefined,
  platformId: row.platform_id ?? undefined,
  platformStatus: row.platform_status ?? undefined,
  platformReason: row.platform_reason ?? undefined,
  error: row.error ?? undefined,
  ...(row.traceparent !== null && { traceparent: row.traceparent }),
});
