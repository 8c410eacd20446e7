/** Ids and fields of the platform's JSON, read without trust. */
import type { Inbound, Json } from "@svc/contract";
import { textOf } from "@svc/kit";

/** Last part of the section's name. */
export const CHANNEL = "slack";

export const EVENTS_PATH = "/slack/events";

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

/** Undefined for an invalid message id. */
export function messageRefOf(id: string | undefined): MessageRef | undefined {
  const [first, second, ...more] = (id ?? "").split(":");
  const channel = conversationId(first);
  const ts = timestamp(second);
  return channel === undefined || ts === undefined || more.length > 0 ? undefined : { channel, ts };
}

export { type Fields, fieldsOf, listOf, textOf } from "@svc/kit";

/** Its ids and names are shorter than those of most. */
export function wordOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined || text.length > MAX_WORD_CHARS ? undefined : text;
}

const MAX_WORD_CHARS = 200;

/** Value of a button of our questions. */
export const choiceValue = (prompt: string, approved: boolean): string =>
  `svc-prompt:${prompt}:${approved ? "yes" : "no"}`;

/** Undefined for a button of another's making. */
export function choiceOf(value: Json | undefined): Inbound["choice"] {
  const [, prompt, answer] = (typeof value === "string" && VALUE.exec(value)) || [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "yes" };
}

const VALUE = /^svc-prompt:([a-z0-9-]{1,32}):(yes|no)$/;
