/** A mail as RFC 5322 wants it. */
import { headerText } from "../mail/headers.ts";
import type { ReplyTo } from "./reply-data.ts";

export interface Outgoing {
  /** Undefined: the platform puts it there. */
  readonly from: string | undefined;
  readonly to: string;
  readonly text: string;
  /** What this answers; without it, a new thread is begun. */
  readonly replyTo: ReplyTo | undefined;
  /** The same for every attempt to send it. */
  readonly key: string;
  readonly files: readonly { readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array }[];
}

/** By which an attempt finds out that one before it was taken. */
export const KEY_HEADER = "X-Svc-Delivery";

export async function compose({ from, to, text, replyTo, key, files }: Outgoing): Promise<Buffer> {
  // Only whoever sends mail needs it.
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const ids = replyTo === undefined ? [] : [...replyTo.references, ...(replyTo.messageId ? [replyTo.messageId] : [])];
  const composer = new MailComposer({
    // As objects: an address is an address, whatever it looks like.
    ...(from !== undefined && { from: { name: "", address: from } }),
    to: { name: "", address: to },
    subject: headerText(replyTo === undefined ? subjectFor(text) : answering(replyTo.subject)),
    // A mail has no line breaks but CRLF, and no NUL.
    text: text.toWellFormed().replaceAll(/\r\n?/g, "\n").replaceAll("\0", ""),
    messageId: `<${messageIdOf(key, from)}>`,
    ...(replyTo?.messageId && { inReplyTo: replyTo.messageId }),
    ...(ids.length > 0 && { references: ids }),
    headers: {
      // So that no other program answers this one (RFC 3834).
      "Auto-Submitted": replyTo === undefined ? "auto-generated" : "auto-replied",
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

/** Without the angle brackets. */
export const messageIdOf = (key: string, from: string | undefined): string =>
  `${key}@${from?.split("@").at(-1) ?? "svc.invalid"}`;

/** The subject stays as it is: with another one the platform begins a new thread. */
const answering = (subject: string): string => (/^\s*re\s*:/i.test(subject) ? subject : `Re: ${subject}`);

function subjectFor(text: string): string {
  const line =
    text
      .split("\n")
      .map((one) => one.trim())
      .find((one) => one !== "") ?? "A message";
  return line.length <= MAX_SUBJECT_CHARS
    ? line
    : `${line
        .slice(0, MAX_SUBJECT_CHARS - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

const MAX_SUBJECT_CHARS = 78;
