/** A mail that is put into the mailbox as raw bytes. */
import PostalMime from "postal-mime";
import type { ArrivingMail } from "./mail-resource.ts";

interface Written extends Omit<ArrivingMail, "atMs"> {
  /** What its Date says. */
  readonly dateMs: number | undefined;
}

export async function writtenMail(raw: Uint8Array): Promise<Written> {
  const mail = await PostalMime.parse(raw, { attachmentEncoding: "arraybuffer" });
  const fields = mail.headers.map(({ originalKey: name, value }) => ({ name, value }));
  const valueOf = (wanted: string) => mail.headers.find(({ key }) => key === wanted)?.value;
  const messageId = valueOf("message-id");
  const dateMs = Date.parse(valueOf("date") ?? "");
  return {
    from: valueOf("from") ?? "",
    subject: mail.subject ?? "",
    ...(mail.text !== undefined && { text: withoutEnd(mail.text) }),
    ...(mail.html !== undefined && { html: withoutEnd(mail.html) }),
    files: mail.attachments.map(({ filename, mimeType, content }) => ({
      name: filename ?? "",
      mimeType,
      bytes: new Uint8Array(content as ArrayBuffer),
    })),
    ...(messageId !== undefined && { headers: { "Message-ID": messageId } }),
    written: { raw, fields },
    dateMs: Number.isNaN(dateMs) ? undefined : dateMs,
  };
}

/** The parser ends each text with a line break, whether the mail does or not. */
const withoutEnd = (text: string): string => text.replace(/\n$/, "");
