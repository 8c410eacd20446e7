/** A mail as the API shows it: headers, a tree of parts, large parts by an id that is another one each time. */
import type { Json } from "@svc/contract";

export interface MailFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A mail that a person sends to the mailbox. */
export interface ArrivingMail {
  readonly from: string;
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly files?: readonly MailFile[];
  /** Further headers, before and instead of those that are made. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly labelIds?: readonly string[];
  /** Default: a thread of its own. */
  readonly threadId?: string;
  /** When the platform took it. */
  readonly atMs: number;
  /** In place of the parts that are made. */
  readonly payload?: Json;
  /** The raw mail, with all its headers in order. Default: built from the other fields. */
  readonly written?: WrittenMail;
}

export interface WrittenMail {
  readonly raw: Uint8Array;
  readonly fields: readonly MailField[];
}

export interface MailField {
  readonly name: string;
  readonly value: string;
}

export interface StoredMail extends ArrivingMail {
  readonly id: string;
  readonly threadId: string;
  labelIds: readonly string[];
  /** Of the last change. */
  historyId: string;
  readonly messageId: string;
}

export interface Shown {
  readonly format: string;
  /** Of `metadata`; empty: all. */
  readonly headers: readonly string[];
  /** A new id for the bytes of an attachment. */
  readonly attach: (bytes: Uint8Array) => string;
}

export function resourceOf(mail: StoredMail, { format, headers: names, attach }: Shown): Json {
  const { text = "", html = "", labelIds, id, threadId, historyId, atMs } = mail;
  const shown = {
    id,
    threadId,
    // Without any label there is no list.
    ...(labelIds.length > 0 && { labelIds: [...labelIds] }),
    snippet: snippetOf(text || html),
    historyId,
    internalDate: String(atMs),
  };
  const whole = { ...shown, sizeEstimate: mail.written?.raw.length ?? text.length + html.length };
  if (format === "minimal") return whole;
  if (format === "raw") return { ...whole, raw: Buffer.from(rawMail(mail, fieldsOf(mail))).toString("base64url") };
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const fields = fieldsOf(mail).filter(({ name }) => wanted.size === 0 || wanted.has(name.toLowerCase()));
  const headers = fields.map(({ name, value }) => ({ name, value }));
  const tree = (mail.payload ?? treeOf(mail, attach)) as Record<string, Json>;
  const { mimeType = "text/plain" } = tree;
  // Nothing but what kind of mail it is.
  if (format === "metadata") return { ...whole, payload: { mimeType, headers } };
  return { ...whole, payload: { ...tree, partId: "", headers } };
}

const snippetOf = (text: string): string => text.slice(0, 100).replaceAll("&", "&amp;").replaceAll("'", "&#39;");

function fieldsOf({ from, subject, headers = {}, atMs, messageId, written }: StoredMail): readonly MailField[] {
  if (written !== undefined) return written.fields;
  const made = {
    From: from,
    To: "me@example.com",
    Subject: subject ?? "",
    Date: new Date(atMs).toUTCString(),
    "Message-ID": messageId,
    "MIME-Version": "1.0",
  };
  return Object.entries({ ...made, ...headers }).map(([name, value]) => ({ name, value }));
}

function treeOf({ text, html, files = [] }: StoredMail, attach: Shown["attach"]): Json {
  const texts = [
    ...(text === undefined ? [] : [["text/plain", text]]),
    ...(html === undefined ? [] : [["text/html", html]]),
  ] as [string, string][];
  const bodies = texts.map(([mimeType, content], index) =>
    textPart(files.length > 0 ? `0.${index}` : `${index}`, mimeType, content),
  );
  const said =
    bodies.length === 1 && bodies[0]
      ? bodies[0]
      : { mimeType: "multipart/alternative", filename: "", headers: ALTERNATIVE, body: { size: 0 }, parts: bodies };
  if (files.length === 0) return said;
  const attached = files.map((file, index) => filePart(String(index + 1), file, attach));
  return {
    mimeType: "multipart/mixed",
    filename: "",
    body: { size: 0 },
    parts: [{ ...said, partId: "0" }, ...attached],
  };
}

const ALTERNATIVE: Json = [{ name: "Content-Type", value: 'multipart/alternative; boundary="=_alternative"' }];

function textPart(partId: string, mimeType: string, content: string): Record<string, Json> {
  const bytes = Buffer.from(content);
  return {
    partId,
    mimeType,
    filename: "",
    headers: [{ name: "Content-Type", value: `${mimeType}; charset="UTF-8"` }],
    body: { size: bytes.length, data: bytes.toString("base64url") },
  };
}

function filePart(partId: string, { name, mimeType, bytes }: MailFile, attach: Shown["attach"]): Json {
  return {
    partId,
    mimeType,
    filename: name,
    headers: [
      { name: "Content-Type", value: `${mimeType}; name="${name}"` },
      { name: "Content-Disposition", value: `attachment; filename="${name}"` },
      { name: "Content-Transfer-Encoding", value: "base64" },
    ],
    body: { attachmentId: attach(bytes), size: bytes.length },
  };
}

/** A mail as the bytes that it came in (RFC 5322). */
function rawMail(mail: Omit<ArrivingMail, "atMs">, fields: readonly MailField[]): Uint8Array {
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
