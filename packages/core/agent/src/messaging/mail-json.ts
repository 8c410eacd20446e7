/** Messages in the words of `/api/inbox` and `svc inbox --json`: the same in both. */
import type { Json } from "@svc/contract";
import type { Mail, MailDetail } from "./types.ts";

type Fields = { readonly [name: string]: Json };

export const mailJson = (mail: Mail): Fields => ({
  id: mail.id,
  state: mail.state,
  waits_for: mail.waitsFor ?? null,
  channel: mail.channel,
  conversation: mail.conversation ? { id: mail.conversation.id, thread: mail.conversation.thread ?? null } : null,
  sender: mail.sender ?? null,
  text: mail.text,
  attempts: mail.attempts,
  at: new Date(mail.atMs).toISOString(),
  ended_at: mail.endedAtMs === undefined ? null : new Date(mail.endedAtMs).toISOString(),
  error: mail.error ?? null,
  turn_id: mail.turnId ?? null,
});

export const mailDetailJson = (mail: MailDetail): Fields => ({
  ...mailJson(mail),
  kind: mail.kind,
  files: mail.files.map(({ kind, name }) => ({ kind, name })),
  deliveries: mail.deliveries.map(mailJson),
  platform_id: mail.platformId ?? null,
  platform_status: mail.platformStatus ?? null,
  platform_reason: mail.platformReason ?? null,
  notice: mail.notice ?? null,
});
