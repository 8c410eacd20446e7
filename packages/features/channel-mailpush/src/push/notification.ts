/** What a push says: in which mailbox something happened, and up to where its history goes now. */
import type { Json } from "@svc/contract";
import { parseJson } from "@svc/kit";
import * as v from "valibot";
import { historyIdSchema } from "../api/history-id.ts";

export interface Notification {
  readonly emailAddress: string;
  /** A 64-bit number, so kept as its digits: a float has room for 53 bits. */
  readonly historyId: string;
  /** Pub/Sub's own id of the message, where it says one. */
  readonly messageId: string | undefined;
}

const anyId = v.fallback(v.optional(v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(200))), undefined);

const envelope = v.object({
  message: v.object({
    data: v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/_-]+={0,2}$/)),
    messageId: anyId,
    // The same once more, in the style of another language.
    message_id: anyId,
  }),
});

const notification = v.object({
  emailAddress: v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(320)),
  historyId: historyIdSchema,
});

/** Undefined for anything but a notification of a mailbox. */
export function notificationOf(payload: Json): Notification | undefined {
  const pushed = v.safeParse(envelope, payload);
  if (!pushed.success) return undefined;
  const { data, messageId, message_id } = pushed.output.message;
  // Both alphabets are read alike.
  const told = v.safeParse(notification, exactJson(Buffer.from(data, "base64")));
  return told.success ? { ...told.output, messageId: messageId ?? message_id } : undefined;
}

/** `parseJson`, with every number as the digits it was written with. */
function exactJson(bytes: Uint8Array): unknown {
  if (parseJson(bytes) === undefined) return undefined;
  return JSON.parse(Buffer.from(bytes).toString("utf8"), function (_key, value: unknown, context?: { source: string }) {
    return typeof value === "number" ? (context?.source ?? value) : value;
  } as (this: unknown, key: string, value: unknown) => unknown);
}

/** What is kept of it until the mailbox was read. */
export const noticeOf = ({ emailAddress, historyId: id }: Notification): Json => ({ emailAddress, historyId: id });

export interface Told {
  readonly emailAddress: string;
  readonly historyId: bigint;
}

/** What a kept notification says; undefined for what is none. */
export function toldOf(notice: Json): Told | undefined {
  const kept = v.safeParse(notification, notice);
  return kept.success ? { ...kept.output, historyId: BigInt(kept.output.historyId) } : undefined;
}
