/** Header fields of a mail or of one of its parts, and what they say: who wrote it, its thread, whether a program sent it. */

export interface Headers {
  /** The first of this name, in any case; blank if missing. */
  get(name: string): string;
  has(name: string): boolean;
  /** All of this name, from the top: the last server that had the mail writes there. */
  all(name: string): readonly string[];
}

/** A value without its line breaks. */
export type HeaderField = readonly [name: string, value: string];

/** From the top; of more than `MAX_FIELDS` the others are left out. */
export function headersFrom(list: Iterable<HeaderField>): Headers {
  const fields = new Map<string, string[]>();
  let count = 0;
  for (const [name, value] of list) {
    if ((count += 1) > MAX_FIELDS) break;
    const key = name.toLowerCase();
    const values = fields.get(key);
    if (values === undefined) fields.set(key, [value]);
    else values.push(value);
  }
  const all = (name: string): readonly string[] => fields.get(name.toLowerCase()) ?? [];
  return { get: (name) => all(name)[0] ?? "", has: (name) => all(name).length > 0, all };
}

const MAX_FIELDS = 1000;

/** With encoded words as text (RFC 2047). */
export function readable(value: string): string {
  return value
    .replaceAll(/(\?=)\s+(?==\?)/g, "$1")
    .replaceAll(
      /=\?([\w-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,1000})\?=/gi,
      (word, charset: string, how: string, text: string) => {
        const bytes = /b/i.test(how) ? Buffer.from(text, "base64") : quotedBytes(text);
        try {
          return new TextDecoder(charset).decode(bytes);
        } catch {
          return word;
        }
      },
    );
}

const quotedBytes = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll("_", " ")
      .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );

/** A header's parameter: `charset` of `text/plain; charset="utf-8"`. */
export function parameterOf(value: string, name: string): string | undefined {
  for (const part of value.slice(0, 2000).split(";").slice(1)) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim().toLowerCase() === name)
      return part
        .slice(at + 1)
        .trim()
        .replaceAll('"', "");
  }
  return undefined;
}

/**
 * A text for an outgoing header. Without line breaks, which would let the text inject headers (Bcc) or a body.
 */
export const headerText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\r\n]/g, "")
    .replaceAll(/\p{Cc}+/gu, " ");

// Who wrote a mail, by its From header.

/** The address between the last angle brackets; without them, the header as it is. */
export function addressOf(from: string): string {
  const text = from.trim();
  const open = text.lastIndexOf("<");
  const close = text.indexOf(">", open);
  return open >= 0 && close > open ? text.slice(open + 1, close).trim() : text;
}

/** The name before the address, where there is one. */
export function nameOf(from: string): string | undefined {
  const open = from.lastIndexOf("<");
  const name = readable(from.slice(0, Math.max(0, open)))
    .replaceAll(/[\p{Cc}"\\]+/gu, " ")
    .trim()
    .slice(0, 100)
    .toWellFormed();
  return name === "" ? undefined : name;
}

/** Lower case, so that one person's mails are one conversation; undefined for what can't be written to. */
export function mailboxOf(address: string): string | undefined {
  const trimmed = address.trim();
  return MAILBOX.test(trimmed) ? trimmed.toLowerCase() : undefined;
}

/** One address and nothing that a header could be continued with. */
const MAILBOX = /^[^\s@,;:<>"()[\]\\\p{Cc}]{1,64}@[^\s@,;:<>"()[\]\\\p{Cc}]{1,255}$/u;

/** What an answer must say so that it lands in the thread of the mail it answers, in every mail program. RFC 5322, 3.6.4. */
export interface ThreadPlace {
  /** Message-ID of the mail, with the angle brackets; undefined: it has none. */
  readonly messageId: string | undefined;
  /** The Message-IDs of the thread so far, oldest first. */
  readonly references: readonly string[];
  readonly subject: string;
}

export function threadPlaceOf(headers: Headers): ThreadPlace {
  const before = messageIdsIn(headers.get("references"));
  return {
    messageId: messageIdsIn(headers.get("message-id"))[0],
    references: before.length > 0 ? before : messageIdsIn(headers.get("in-reply-to")),
    subject: readable(headers.get("subject")).replaceAll(/\s+/g, " ").trim().slice(0, MAX_SUBJECT_CHARS).toWellFormed(),
  };
}

const MAX_SUBJECT_CHARS = 500;

/** Drops everything that is no id, because ids go into outgoing headers. Some ids have no @. */
export const messageIdsIn = (header: string): string[] =>
  limited(header.slice(0, 20_000).match(/<[!-;=?-~]{1,250}>/g) ?? []);

/** The first one is the thread's root, the last ones are what mail programs look for. */
function limited(ids: readonly string[]): string[] {
  return ids.length <= MAX_IDS ? [...ids] : [...ids.slice(0, 1), ...ids.slice(1 - MAX_IDS)];
}

const MAX_IDS = 20;

/** An answer to a mail of the thread; a forwarded mail begins something new. */
export const isReply = (headers: Headers): boolean =>
  headers.get("in-reply-to").trim() !== "" && !/^\s*(?:fwd?|wg|tr|rv|enc|i):/i.test(headers.get("subject"));

// Automatic mail and mail to many recipients. Answering it makes loops (two programs that answer each other for ever), and confirms to
// spammers that the address is read. RFC 3834.

/** Why it is not answered; undefined: a person may have written it. */
export function automaticBy(headers: Headers, address: string): string | undefined {
  const { get, has } = headers;
  const submitted = get("auto-submitted").split(";")[0]?.trim().toLowerCase() ?? "";
  if (submitted !== "" && submitted !== "no") return "Auto-Submitted";
  if (/^\s*(?:bulk|list|junk|auto_reply)\b/i.test(get("precedence"))) return "Precedence";
  const list = ["list-id", "list-unsubscribe", "list-post"].find(has);
  if (list !== undefined) return list;
  if (has("x-autoreply") || has("x-autorespond")) return "X-Autoreply";
  if (/\b(?:all|autoreply|oof)\b/i.test(get("x-auto-response-suppress"))) return "X-Auto-Response-Suppress";
  if (/^\s*<\s*>\s*$/.test(get("return-path"))) return "Return-Path";
  if (/^\s*multipart\/report\b/i.test(get("content-type"))) return "Content-Type";
  return ROBOTS.test(address) ? "From" : undefined;
}

const ROBOTS =
  /^(?:mailer-daemon|postmaster|(?:do[._-]?not|no)[._-]?reply|bounces?|notifications?|auto[._-]?(?:reply|confirm))(?:[+._-][^@]*)?@/i;

/**
 * A header with `instead` in the place of each quoted string (RFC 9110 section 5.6.4), in which a sender may write anything. One
 * that is never closed stays as it is: it is no quoted string, and none begins inside it.
 */
export const replaceQuoted = (header: string, instead: string): string =>
  header.replaceAll(/"(?:[^"\\]|\\[^])*("|\\?$)/g, (quoted, end) => (end === '"' ? instead : quoted));
