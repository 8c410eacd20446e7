/** An approval as the database has it, and as others see it. */
import type { ApprovalOrigin, Conversation, Json } from "@svc/contract";
import type { Approval, ApprovalOffers, ApprovalAnswer, ApprovalPrompt, ApprovalStatus } from "./approval-types.ts";

export const APPROVAL_COLUMNS = `n, run_id, step_id, origin, status, lower(hex(digest)) AS digest, created_at, expires_at, asked_by,
  approve_keywords, reject_keywords, channels, title, message, event_id, ended_at, ended_by, via, feedback,
  detail, offers, held`;

export interface ApprovalRow {
  n: number;
  run_id: string;
  step_id: string;
  origin: ApprovalOrigin;
  status: ApprovalStatus;
  digest: string;
  created_at: number;
  expires_at: number;
  asked_by: string;
  approve_keywords: string;
  reject_keywords: string;
  channels: string;
  title: string;
  message: string;
  event_id: string | null;
  ended_at: number | null;
  ended_by: string | null;
  via: ApprovalAnswer["via"] | null;
  feedback: string | null;
  detail: string | null;
  offers: string | null;
  held: ApprovalAnswer["holds"] | null;
}

export interface PromptRow {
  delivery: number;
  channel: string;
  chat: string;
  thread: string | null;
  opened_chat: string | null;
  opened_thread: string | null;
}

export const approvalOf = (row: ApprovalRow, prompts: readonly PromptRow[]): Approval => ({
  n: row.n,
  runId: row.run_id,
  stepId: row.step_id,
  origin: row.origin,
  title: row.title,
  message: row.message,
  approveKeywords: JSON.parse(row.approve_keywords) as string[],
  rejectKeywords: JSON.parse(row.reject_keywords) as string[],
  channels: JSON.parse(row.channels) as string[],
  askedBy: row.asked_by,
  digest: row.digest,
  status: row.status,
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at,
  prompts: prompts.map(promptOf),
  answer:
    row.ended_at === null
      ? undefined
      : {
          feedback: row.feedback ?? undefined,
          by: row.ended_by!,
          via: row.via!,
          atMs: row.ended_at,
          holds: row.held ?? undefined,
        },
  ...(row.detail !== null && { detail: JSON.parse(row.detail) as Json }),
  ...(row.offers !== null && { offers: JSON.parse(row.offers) as ApprovalOffers }),
  eventId: row.event_id ?? undefined,
});

const promptOf = (row: PromptRow): ApprovalPrompt => ({
  conversation: conversationOf(row.channel, row.chat, row.thread),
  opened: row.opened_chat === null ? undefined : conversationOf(row.channel, row.opened_chat, row.opened_thread),
  delivery: row.delivery,
});

const conversationOf = (channel: string, id: string, thread: string | null): Conversation => ({
  channel,
  id,
  ...(thread !== null && { thread }),
});
