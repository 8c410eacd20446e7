/** Rows of both boxes as a person sees them. What people and the model wrote may hold a secret: it is taken out first. */
import { basename } from "node:path";
import type { Inbound, Json } from "@svc/contract";
import type { Delivery, InboxMessage } from "@svc/store";
import { redactJson } from "../../tools/redact-json.ts";
import { mailIdOf } from "../delivery/settle.ts";
import type { Mail, MailDetail } from "../types.ts";

export type Redact = (text: string) => string;

/** Characters of a text that a list shows. */
const SHOWN_CHARS = 200;

export function mailOfMessage(message: InboxMessage, redact: Redact): Mail {
  const { n, kind, state, channel, attempts, receivedAtMs, endedAtMs, error, turnId } = message;
  const inbound = inboundOf(message);
  return {
    id: `in-${n}`,
    state,
    waitsFor: kind === "locked" && state === "waiting" ? "keys" : undefined,
    channel,
    conversation: inbound?.conversation,
    sender: inbound?.sender,
    text: beginningOf(inbound?.text ?? "", redact),
    attempts,
    atMs: receivedAtMs,
    endedAtMs,
    error,
    turnId: inbound && turnId,
  };
}

export function detailOfMessage(message: InboxMessage, deliveries: readonly Delivery[], redact: Redact): MailDetail {
  const inbound = inboundOf(message);
  return {
    ...mailOfMessage(message, redact),
    text: redact(inbound?.text ?? ""),
    kind: message.kind,
    files: (inbound?.media ?? []).map(({ kind, fileName }) => ({ kind, name: fileName ?? kind })),
    deliveries: deliveries.map((delivery) => mailOfDelivery(delivery, redact)),
    platformId: undefined,
    platformStatus: undefined,
    platformReason: undefined,
    notice: inbound ? undefined : redactJson(message.body, redact),
  };
}

export function mailOfDelivery(delivery: Delivery, redact: Redact): Mail {
  const { state, conversation, text, attempts, createdAtMs, endedAtMs, error, turnId } = delivery;
  return {
    id: mailIdOf(delivery),
    state,
    waitsFor: undefined,
    channel: conversation.channel,
    conversation,
    sender: undefined,
    text: beginningOf(text, redact),
    attempts,
    atMs: createdAtMs,
    endedAtMs,
    error,
    turnId,
  };
}

export function detailOfDelivery(delivery: Delivery, redact: Redact): MailDetail {
  const { text, files, platformId, platformStatus, platformReason } = delivery;
  return {
    ...mailOfDelivery(delivery, redact),
    text: redact(text),
    kind: "delivery",
    files: files.map(({ kind, path }) => ({ kind, name: basename(path) })),
    deliveries: [],
    platformId,
    platformStatus,
    platformReason: platformReason && redact(platformReason),
    notice: undefined,
  };
}

/** Undefined for a notice, whose body is the channel's own. */
function inboundOf({ kind, body }: InboxMessage): Inbound | undefined {
  // It was one when it was kept.
  return kind === "notice" ? undefined : (body satisfies Json as unknown as Inbound);
}

/** Cut after the redaction: half a secret is known to nobody. */
function beginningOf(text: string, redact: Redact): string {
  const clean = redact(text);
  if (clean.length <= SHOWN_CHARS) return clean;
  return `${clean
    .slice(0, SHOWN_CHARS)
    .toWellFormed()
    .replace(/\uFFFD$/, "")}…`;
}
