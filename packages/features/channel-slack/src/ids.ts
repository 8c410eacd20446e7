/**
 * How the platform names things: conversations, people, messages. A message is told from the others of its conversation by its
 * timestamp. https://docs.slack.dev/messaging/retrieving-messages
 */
import type { Json } from "@svc/contract";

/** Last part of the section's name. */
export const CHANNEL = "slack";

const matching =
  (pattern: RegExp) =>
  (value: Json | undefined): string | undefined =>
    typeof value === "string" && pattern.test(value) ? value : undefined;

export const conversationId = matching(/^[CDG][A-Z0-9]{2,30}$/);
export const userId = matching(/^[UW][A-Z0-9]{2,30}$/);
export const fileId = matching(/^F[A-Z0-9]{2,30}$/);
/** Seconds since the epoch, and six digits that tell messages of one second apart. */
export const timestamp = matching(/^\d{9,11}\.\d{6}$/);

/** Milliseconds; by whole seconds, since the rest is a number and no time. */
export const msOf = (ts: string): number => Number(ts.slice(0, ts.indexOf("."))) * 1000;

export interface MessageRef {
  readonly channel: string;
  readonly ts: string;
}

/** The id of a message, in and out: `C0123:1700000000.000100`. */
export const messageIdOf = ({ channel, ts }: MessageRef): string => `${channel}:${ts}`;

/** Undefined for what is no message of the platform's. */
export function messageRefOf(id: string | undefined): MessageRef | undefined {
  const [first, second, ...more] = (id ?? "").split(":");
  const channel = conversationId(first);
  const ts = timestamp(second);
  return channel === undefined || ts === undefined || more.length > 0 ? undefined : { channel, ts };
}
