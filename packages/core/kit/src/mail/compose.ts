/** A mail as RFC 5322 wants it. */
import { type ThreadPlace, headerText } from "./headers.ts";

export interface Outgoing {
  /** Undefined: the platform puts it there. */
  readonly from: string | undefined;
  /** Shown before the address. */
  readonly fromName?: string | undefined;
  readonly to: string;
  readonly text: string;
  /** The same for those who want it with fonts. */
  readonly html?: string | undefined;
  /** What this answers; without it, a new thread is begun. */
  readonly answers: ThreadPlace | undefined;
  /** The same for every attempt to send it. */
  readonly key: string;
  /** Milliseconds since the epoch; default: now. */
  readonly atMs?: number | undefined;
  readonly files: readonly { readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array }[];
}

/** By which an attempt finds out that one before it was taken. */
export const KEY_HEADER = "X-Svc-Delivery";

export async function compose(outgoing: Outgoing): Promise<Buffer> {
  const { from, fromName = "", to, text, html, answers, key, atMs, files } = outgoing;
  // Loaded late: only sending needs it.
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const ids = answers === undefined ? [] : [...answers.references, ...(answers.messageId ? [answers.messageId] : [])];
  const composer = new MailComposer({
    // As objects: otherwise nodemailer parses the address, and a crafted one could become several.
    ...(from !== undefined && { from: { name: headerText(fromName), address: from } }),
    to: { name: "", address: to },
    subject: headerText(answers === undefined ? subjectFor(text) : answering(answers.subject)),
    // A mail has no line breaks but CRLF, and no NUL.
    text: plain(text),
    ...(html !== undefined && { html: plain(html) }),
    ...(atMs !== undefined && { date: new Date(atMs) }),
    messageId: `<${messageIdOf(key, from)}>`,
    ...(answers?.messageId && { inReplyTo: answers.messageId }),
    ...(ids.length > 0 && { references: ids }),
    headers: {
      // So that no other program answers this one (RFC 3834).
      "Auto-Submitted": answers === undefined ? "auto-generated" : "auto-replied",
      "X-Auto-Response-Suppress": "All",
      [KEY_HEADER]: key,
    },
    attachments: files.map(({ name, mimeType, bytes }) => ({
      filename: headerText(name),
      contentType: mimeType,
      content: Buffer.from(bytes),
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: "\r\n",
  });
  return composer.compile().build();
}

const plain = (text: string): string => text.toWellFormed().replaceAll(/\r\n?/g, "\n").replaceAll("\0", "");

/** Without the angle brackets. */
export const messageIdOf = (key: string, from: string | undefined): string =>
  `${key}@${from?.split("@").at(-1) ?? "svc.invalid"}`;

/** The subject stays as it is: with another one the platform begins a new thread. */
const answering = (subject: string): string => (/^\s*re\s*:/i.test(subject) ? subject : `Re: ${subject}`);

/** The default subject of a mail: its first line. */
export function subjectFor(text: string): string {
  const line =
    text
      .split("\n")
      .map((one) => headerText(one).trim())
      .find((one) => one !== "") ?? "A message";
  return line.length <= MAX_SUBJECT_CHARS
    ? line
    : `${line
        .slice(0, MAX_SUBJECT_CHARS - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

const MAX_SUBJECT_CHARS = 78;
