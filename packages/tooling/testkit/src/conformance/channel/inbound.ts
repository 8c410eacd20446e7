/** Whether what `parse` gave can be kept, answered and counted. */
import type { DeliveryUpdate, Inbound, IngressReply, Notice, Parsed } from "@svc/contract";
import { isDeepStrictEqual } from "node:util";

/** Longer than any id, number, address or name is anywhere. It is kept, told to the model and shown again and again. */
const MAX_WORD_CHARS = 512;
/** The last moment that a Date holds. */
const LAST_MS = 8.64e15;

const KINDS: ReadonlySet<string> = new Set(["image", "audio", "video", "document", "sticker"]);

/** What is wrong with it, in words; undefined: nothing. */
export function flawOf(parsed: Parsed, channel: string): string | undefined {
  const { inbound = [], notices = [], updates = [], reply } = parsed;
  return (
    (reply && flawOfReply(reply)) ??
    first(inbound, (one) => flawOfInbound(one, channel)) ??
    first(notices, flawOfNotice) ??
    first(updates, flawOfUpdate)
  );
}

function flawOfReply({ status, contentType, body }: IngressReply): string | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 299) return "its reply is no success";
  return isBlank(contentType) || typeof body !== "string" ? "its reply has no type or no body" : undefined;
}

function first<T>(list: readonly T[], flaw: (item: T) => string | undefined): string | undefined {
  for (const item of list) {
    const found = isDeepStrictEqual(JSON.parse(JSON.stringify(item)), item)
      ? flaw(item)
      : "it changes when it is kept as JSON";
    if (found !== undefined) return found;
  }
  return undefined;
}

function flawOfInbound(one: Inbound, channel: string): string | undefined {
  const {
    conversation,
    sender,
    senderName,
    text,
    id,
    media = [],
    sequence,
    sentAtMs,
    dedupeMs,
    choice,
    repliesTo,
  } = one;
  if (conversation.channel !== channel) return `its channel is not ${channel}`;
  if (isBlank(conversation.id) || isBlank(sender)) return "its conversation or sender is blank";
  if (conversation.thread !== undefined && isBlank(conversation.thread)) return "its thread is blank";
  if (id !== undefined && isBlank(id)) return "its id is blank";
  if ([conversation.id, sender, senderName, id].some(isLong)) return "its conversation, sender, name or id is too long";
  if (typeof text !== "string") return "its text is none";
  if (text.trim() === "" && media.length === 0 && one.kind !== "reaction") return "there is nothing in it";
  if (sequence !== undefined && !Number.isSafeInteger(sequence)) return "its sequence is no whole number";
  if (sentAtMs !== undefined && !(sentAtMs >= 0 && sentAtMs <= LAST_MS)) return "its time is none";
  if (repliesTo !== undefined && (isBlank(repliesTo) || isLong(repliesTo)))
    return "what it replies to is blank or too long";
  if (dedupeMs !== undefined && !(dedupeMs > 0)) return "its id is remembered for no time";
  if (choice && !(/^[a-z0-9-]{1,32}$/.test(choice.prompt) && typeof choice.approved === "boolean")) {
    return "it is a choice of nothing";
  }
  for (const { kind, ref, placeholder, mimeType, fileName } of media) {
    if (!KINDS.has(kind) || isBlank(ref)) return "it has media without a kind or a ref";
    if ([mimeType, fileName].some((word) => word !== undefined && (isBlank(word) || isLong(word)))) {
      return "it has media whose type or name is blank or too long";
    }
    if (!text.includes(placeholder)) return "the placeholder of its media is not in its text";
  }
  return undefined;
}

const flawOfNotice = ({ id, queue }: Notice): string | undefined =>
  isBlank(queue) || (id !== undefined && isBlank(id)) ? "the queue or id of a notice is blank" : undefined;

const flawOfUpdate = ({ platformId, status }: DeliveryUpdate): string | undefined =>
  isBlank(platformId) || !["sent", "delivered", "read", "failed"].includes(status)
    ? "an update is of nothing"
    : undefined;

const isLong = (word: string | undefined): boolean => (word?.length ?? 0) > MAX_WORD_CHARS;

const isBlank = (text: unknown): boolean => typeof text !== "string" || text.trim() === "";
