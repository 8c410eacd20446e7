/** Mails as people's programs write them, for tests to put into a mailbox. */
import { randomBytes } from "node:crypto";

export interface RawMail {
  readonly from: string;
  readonly to?: string;
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly messageId?: string;
  /** Written over what is made of the rest; a list for a header that is there several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly files?: readonly { readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array }[];
  readonly atMs?: number;
}

/** CRLF line breaks; texts as UTF-8, files in base64. */
export function rawMail(mail: RawMail): Buffer {
  const { from, to = "agent@example.com", subject, text = "", html, files = [], atMs = Date.now() } = mail;
  const fields: Record<string, string | readonly string[]> = {
    From: from,
    To: to,
    ...(subject !== undefined && { Subject: subject }),
    Date: new Date(atMs).toUTCString().replace("GMT", "+0000"),
    "Message-ID": mail.messageId ?? `<${randomBytes(8).toString("hex")}@sender.test>`,
    "MIME-Version": "1.0",
    ...mail.headers,
  };
  const head = Object.entries(fields).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`));
  const plain = partOf("text/plain; charset=utf-8", text);
  const said = html === undefined ? plain : multi("alternative", [plain, partOf("text/html; charset=utf-8", html)]);
  const attached = files.map(
    ({ name, mimeType, bytes }) =>
      `Content-Type: ${mimeType}\r\nContent-Disposition: attachment; filename="${name}"\r\n` +
      `Content-Transfer-Encoding: base64\r\n\r\n${base64(bytes)}`,
  );
  const body = attached.length === 0 ? said : multi("mixed", [said, ...attached]);
  // A header of the mail itself may say what its body is.
  const isOwn = Object.keys(fields).some((name) => name.toLowerCase() === "content-type");
  const whole = isOwn ? `\r\n${crlf(text)}` : body;
  return Buffer.from(`${head.join("\r\n")}\r\n${whole}`);
}

const crlf = (text: string): string => text.replaceAll(/\r?\n/g, "\r\n");
const partOf = (type: string, text: string): string =>
  `Content-Type: ${type}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${crlf(text)}`;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64").replaceAll(/.{76}/g, "$&\r\n");

function multi(kind: string, parts: readonly string[]): string {
  const boundary = `b-${randomBytes(8).toString("hex")}`;
  const pieces = parts.map((part) => `--${boundary}\r\n${part}\r\n`);
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${pieces.join("")}--${boundary}--\r\n`;
}
