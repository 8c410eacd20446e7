/** A mail as the bytes that it came in (RFC 5322). */
import type { ArrivingMail, MailField, MailFile } from "./mail-resource.ts";

export function rawMail(mail: Omit<ArrivingMail, "atMs">, fields: readonly MailField[]): Uint8Array {
  if (mail.written !== undefined) return mail.written.raw;
  const { text, html, files = [] } = mail;
  const texts = [
    ...(text === undefined ? [] : [textEntity("text/plain", text)]),
    ...(html === undefined ? [] : [textEntity("text/html", html)]),
  ];
  const said = texts.length === 1 && texts[0] ? texts[0] : multipart("alternative", texts);
  const entity = files.length === 0 ? said : multipart("mixed", [said, ...files.map(fileEntity)]);
  const head = fields.map(({ name, value }) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(head + entity);
}

const textEntity = (mimeType: string, text: string): string =>
  `Content-Type: ${mimeType}; charset="UTF-8"\r\nContent-Transfer-Encoding: base64\r\n\r\n${wrapped(Buffer.from(text))}`;

const fileEntity = ({ name, mimeType, bytes }: MailFile): string =>
  `Content-Type: ${mimeType}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\n` +
  `Content-Transfer-Encoding: base64\r\n\r\n${wrapped(bytes)}`;

function multipart(kind: "alternative" | "mixed", entities: readonly string[]): string {
  const boundary = `=_${kind}`;
  const parts = entities.map((entity) => `--${boundary}\r\n${entity}\r\n`).join("");
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${parts}--${boundary}--`;
}

const wrapped = (bytes: Uint8Array): string =>
  (
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,76}/g) ?? []
  ).join("\r\n");
