/** A message as the database has it, and as others see it. */
import type { Json } from "@svc/contract";
import type { InboxMessage, InboxState, NewMessage } from "../message-types.ts";
import type { BoxRow, BoxShape } from "./box.ts";

export const INBOX: BoxShape = {
  table: "inbox",
  well: "done",
  text: "body",
  columns: "m.turn_id, m.kind, m.received_at, m.body, o.draft, m.traceparent, o.traceparent AS wait_traceparent",
};

export interface InboxRow extends BoxRow {
  turn_id: string;
  kind: NewMessage["kind"];
  received_at: number;
  body: string;
  draft: string | null;
  traceparent: string | null;
  wait_traceparent: string | null;
}

export const messageOf = (row: InboxRow): InboxMessage => ({
  n: row.n,
  turnId: row.turn_id,
  channel: row.channel,
  kind: row.kind,
  lane: row.lane,
  body: JSON.parse(row.body) as Json,
  state: row.state as InboxState,
  attempts: row.attempts,
  receivedAtMs: row.received_at,
  endedAtMs: row.ended_at ?? undefined,
  error: row.error ?? undefined,
  ...(row.draft !== null && { draft: row.draft }),
  ...(row.traceparent !== null && { traceparent: row.traceparent }),
  ...(row.wait_traceparent !== null && { waitTraceparent: row.wait_traceparent }),
});
