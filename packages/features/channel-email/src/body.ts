/** Text and files of a mail. Fetches the structure first, then only as much text as is used. */
import { SvcError } from "@svc/contract";
import { htmlToText } from "@svc/kit/mail";
import { fileNameOf } from "./files.ts";
import { UnreadableAnswer } from "./imap.ts";
import { contentsOf, type NewMail, type Part, partBytes, sourceBytes } from "./structure.ts";

export interface Body {
  readonly text: string;
  readonly files: readonly Part[];
  /** What a reader should know beside the text, in brackets. */
  readonly notes: readonly string[];
}

/** Throws as `Session.call`. */
export type BodyReader = (mail: NewMail, signal: AbortSignal) => Promise<Body>;

const MAX_PLAIN_BYTES = 524_288;
/** Mail programs put thousands of tags around a few words. */
const MAX_HTML_BYTES = 2_097_152;
const MAX_SOURCE_BYTES = 1_048_576;
const MAX_CALENDAR_BYTES = 262_144;
const MAX_CALENDARS = 3;

export function createBodyReader(): BodyReader {
  const hard = createHardMails();
  return async (mail, signal) => {
    const body = await hard.read(mail, [() => byStructure(mail, signal), () => bySource(mail, signal)]);
    return body ?? { text: "", files: [], notes: ["[the mail can't be read]"] };
  };
}

async function byStructure({ session, uid }: NewMail, signal: AbortSignal): Promise<Body> {
  const query = { uid: true, bodyStructure: true };
  const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
  const { texts, files, isEncrypted } = contentsOf(mail === false ? undefined : mail.bodyStructure);
  let isCut = false;
  const fetched = async (part: Part | undefined, maxBytes: number): Promise<string> => {
    if (part === undefined) return "";
    if (part.sizeBytes > maxBytes) isCut = true;
    return decoded(part, await partBytes(session, uid, part.id, maxBytes, signal));
  };
  const read: string[] = [];
  for (const { plain, html } of texts) {
    const text = (await fetched(plain, MAX_PLAIN_BYTES)).trim();
    read.push(text === "" ? htmlToText(await fetched(html, MAX_HTML_BYTES)).trim() : text);
  }
  const notes = new Set<string>();
  for (const part of files.filter(({ type }) => type === "text/calendar").slice(0, MAX_CALENDARS)) {
    const bytes = await partBytes(session, uid, part.id, MAX_CALENDAR_BYTES, signal);
    const invitation = invitationIn(await decoded({ ...part, type: "text/plain" }, bytes));
    if (invitation !== undefined) notes.add(invitation);
  }
  if (isEncrypted) notes.add("[the mail is encrypted and can't be read]");
  if (isCut) notes.add("[the mail's text is too long; its end is left out]");
  return { text: read.filter((text) => text !== "").join("\n\n"), files, notes: [...notes] };
}

/** For a mail whose structure the server can't report. Its files are named, but can't be fetched. */
async function bySource({ session, uid }: NewMail, signal: AbortSignal): Promise<Body> {
  const read = await parsed(await sourceBytes(session, uid, MAX_SOURCE_BYTES, signal));
  if (read === undefined) throw new UnreadableAnswer();
  const text = read.text.trim() || htmlToText(read.html).trim();
  return { text, files: [], notes: read.files.map((name) => `[a file that can't be fetched: ${fileNameOf(name)}]`) };
}

// A part's text, from the bytes that were transferred: transfer encoding, charset, flowed lines.

/** Never throws: what can't be decoded is read as it stands there. */
async function decoded(part: Pick<Part, "type" | "parameters" | "encoding">, bytes: Buffer): Promise<string> {
  const parameters = ["charset", "format", "delsp"].flatMap((name) => {
    const value = part.parameters[name];
    return value !== undefined && TOKEN.test(value) ? [`; ${name}="${value}"`] : [];
  });
  const encoding = TOKEN.test(part.encoding) ? part.encoding : "7bit";
  const head = `Content-Type: ${part.type}${parameters.join("")}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
  const mail = await parsed(Buffer.concat([Buffer.from(head), bytes]));
  return (mail === undefined ? bytes.toString("utf8") : mail.text || mail.html).replaceAll(/\r\n?/g, "\n");
}

/** What a header of ours can hold. */
const TOKEN = /^[\w.:+-]{1,60}$/;

export interface ParsedMail {
  readonly text: string;
  readonly html: string;
  /** Names of its files. */
  readonly files: readonly string[];
}

/** Undefined: the library gives up on it. */
async function parsed(source: Buffer): Promise<ParsedMail | undefined> {
  const { simpleParser } = await import("mailparser");
  try {
    const mail = await simpleParser(source, {
      // Texts are made of HTML by a reader that nested tags don't stop.
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipImageLinks: true,
      skipTextLinks: true,
      keepCidLinks: true,
    });
    const files = mail.attachments.map(({ filename }) => filename ?? "");
    return { text: mail.text ?? "", html: mail.html === false ? "" : (mail.html ?? ""), files };
  } catch {
    return undefined;
  }
}

// A calendar invitation in a line. RFC 5545.

/** Undefined: there is no event in it. */
export function invitationIn(calendar: string): string | undefined {
  // A line that begins with a blank goes on from the one before.
  const lines = calendar
    .slice(0, MAX_CHARS)
    .replaceAll(/\r?\n[ \t]/g, "")
    .split(/\r?\n/);
  const begin = lines.findIndex((line) => /^BEGIN:VEVENT\s*$/i.test(line));
  if (begin < 0) return undefined;
  const method = propertyIn(lines.slice(0, begin), "METHOD")?.value.toUpperCase();
  const event = lines.slice(begin + 1, endOf(lines, begin));
  const summary = propertyIn(event, "SUMMARY")?.value || "without a title";
  const said = [
    summary,
    whenOf(event),
    propertyIn(event, "LOCATION")?.value,
    prefixed("from ", propertyIn(event, "ORGANIZER")?.value.replace(/^mailto:/i, "")),
  ];
  const what = WHAT[method ?? ""] ?? "invitation";
  return `[${what}: ${said.filter((part) => part !== undefined && part !== "").join(", ")}]`;
}

const MAX_CHARS = 200_000;
const MAX_VALUE_CHARS = 300;
const WHAT: Readonly<Record<string, string>> = {
  CANCEL: "cancelled invitation",
  REPLY: "answer to an invitation",
  COUNTER: "other time proposed for an invitation",
};

const prefixed = (prefix: string, value: string | undefined): string | undefined =>
  value ? prefix + value : undefined;

const endOf = (lines: readonly string[], begin: number): number => {
  const end = lines.findIndex((line, index) => index > begin && /^(?:END:VEVENT|BEGIN:)/i.test(line));
  return end < 0 ? lines.length : end;
};

interface Property {
  readonly value: string;
  readonly zone: string | undefined;
}

function propertyIn(lines: readonly string[], name: string): Property | undefined {
  const pattern = new RegExp(`^${name}((?:;[^:";]*(?:"[^"]*"[^:";]*)*)*):(.*)$`, "i");
  for (const line of lines) {
    const [, parameters, value] = pattern.exec(line.slice(0, 4000)) ?? [];
    if (parameters === undefined || value === undefined) continue;
    const zone = /;TZID="?([^;:"]{1,60})/i.exec(parameters)?.[1];
    return { value: plain(value), zone: zone === undefined ? undefined : plain(zone) };
  }
  return undefined;
}

const plain = (value: string): string =>
  value
    .replaceAll(/\\n/gi, " ")
    .replaceAll(/\\([,;\\])/g, "$1")
    .replaceAll(/[\p{Cc}\p{Cf}[\]]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_VALUE_CHARS)
    .toWellFormed();

function whenOf(event: readonly string[]): string | undefined {
  const start = propertyIn(event, "DTSTART");
  const from = shown(start?.value);
  if (from === undefined) return undefined;
  const to = shown(propertyIn(event, "DTEND")?.value);
  const zone = start?.value.endsWith("Z") ? " (UTC)" : start?.zone === undefined ? "" : ` (${start.zone})`;
  return `${from}${to === undefined ? "" : ` to ${to}`}${zone}`;
}

/** `20260301T120000Z` as people write it. */
function shown(value: string | undefined): string | undefined {
  const [, year, month, day, hour, minute] =
    /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{2}Z?)?$/.exec(value ?? "") ?? [];
  if (year === undefined) return undefined;
  return `${year}-${month}-${day}${hour === undefined ? "" : ` ${hour}:${minute}`}`;
}

/**
 * Mails that the server or the library can't handle: their answer can't be parsed, or the server fails on them every time.
 * They are remembered across connections: the next try sends a simpler request, and the last one gives up.
 */
export interface HardMails {
  /** What the first of `ways` comes to that works; undefined: none does. Throws as `Session.call`. */
  read<T>(
    mail: Pick<NewMail, "session" | "uidValidity" | "uid">,
    ways: readonly (() => Promise<T>)[],
  ): Promise<T | undefined>;
}

/** A connection may be lost at any mail; so often at the same one, it is because of that mail. */
const MOST_LOSSES = 3;
const MOST_KNOWN = 1000;

export function createHardMails(): HardMails {
  /** Losses that count as one failure, times the ways that failed. */
  const known = new Map<string, number>();
  const add = (key: string, count: number): void => {
    known.set(key, (known.get(key) ?? 0) + count);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value as string);
  };
  return {
    async read({ session, uidValidity, uid }, ways) {
      const key = `${uidValidity}:${uid}`;
      for (const way of ways.slice(Math.floor((known.get(key) ?? 0) / MOST_LOSSES))) {
        try {
          return await way();
        } catch (error) {
          const isUnreadable = error instanceof UnreadableAnswer;
          if (isUnreadable) add(key, MOST_LOSSES);
          else if (session.isClosed && isRemote(error)) add(key, 1);
          if (!isUnreadable || session.isClosed) throw error;
        }
      }
      return undefined;
    },
  };
}

const isRemote = (error: unknown): boolean => error instanceof SvcError && error.code.startsWith("REMOTE_");
